package forks

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"pgrlab/core/shell"
	"pgrlab/tui/command/rundir"
)

// Stop asks the children that train to save themselves and to end, each once, and begins no others. It
// is for the moment of a signal: one to a whole job has come to the children, too, and another later
// than a second after it would end them at once.
func (b *Group) Stop() { b.stop() }

func (b *Group) stop() (training map[*exec.Cmd]trainingChild, waiting []*Child) {
	training, waiting = b.close(false)
	b.mu.Lock()
	defer b.mu.Unlock()
	for cmd, c := range training {
		if _, asked := b.stopped[cmd]; !asked {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended on its own
			b.stopped[cmd] = c
		}
	}
	return maps.Clone(b.stopped), waiting
}

// End is Stop, and waits until the children have saved themselves. It says what became of each.
func (b *Group) End() (said []string) {
	training, waiting := b.stop()
	b.working.Wait()
	for _, c := range sorted(training) {
		if where, done := rundir.Standing(c.run.dir); done {
			said = append(said, fmt.Sprintf("its fork %s has made all its steps", rundir.Near(c.run.dir)))
		} else {
			said = append(said, fmt.Sprintf("its fork %s is saved %s: pgrlab train --resume %s continues it", rundir.Near(c.run.dir), where, shell.Word(rundir.Near(c.run.dir))))
		}
	}
	for _, c := range waiting {
		said = append(said, fmt.Sprintf("its fork %s was not begun: pgrlab train --resume %s begins it", rundir.Near(c.dir), shell.Word(rundir.Near(c.dir))))
	}
	return said
}

// Release lets the training children go on without this process, and leaves the waiting ones to a
// process of their own, which begin makes. It says how to reach each.
func (b *Group) Release(begin func(args ...string) *exec.Cmd) (said []string) {
	training, waiting := b.close(true)
	args := []string{TrainName, "--beside", strconv.Itoa(cmp.Or(b.room.AtATime, 2))}
	for _, c := range sorted(training) {
		pid, dir := c.command.Process.Pid, rundir.Near(c.run.dir)
		args = append(args, "--after", strconv.Itoa(pid))
		where, _ := rundir.Standing(c.run.dir)
		said = append(said, fmt.Sprintf("its fork %s goes on (pid %d) %s: pgrlab attach %s", dir, pid, where, shell.Word(dir)))
	}
	if len(waiting) == 0 {
		return said
	}
	for _, c := range waiting {
		args = append(args, c.dir)
	}
	queue := begin(args...)
	queue.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := queue.Start()
	for _, c := range waiting {
		text := fmt.Sprintf("its fork %s was not begun: %v: pgrlab train --resume %s begins it", rundir.Near(c.dir), err, shell.Word(rundir.Near(c.dir)))
		if err == nil {
			text = fmt.Sprintf("its fork %s waits for its turn: pid %d begins it (kill %d: it does not)", rundir.Near(c.dir), queue.Process.Pid, queue.Process.Pid)
		}
		said = append(said, text)
	}
	return said
}

// close stops beginning children and returns those that are left.
func (b *Group) close(free bool) (training map[*exec.Cmd]trainingChild, waiting []*Child) {
	b.making.Lock() // after the children that are being made
	defer b.making.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.set = true, free
	if b.stopped == nil {
		b.stopped = map[*exec.Cmd]trainingChild{}
	}
	training = map[*exec.Cmd]trainingChild{}
	for cmd, c := range b.running {
		if cmd.Process != nil {
			training[cmd] = trainingChild{c, cmd}
		} else { // it was about to start, and no longer will
			waiting = append(waiting, c)
		}
	}
	waiting = append(waiting, b.waiting...)
	if free {
		b.waiting = nil
	}
	return training, waiting
}

// trainingChild is a child with its process.
type trainingChild struct {
	run     *Child
	command *exec.Cmd
}

// sorted are the children in the order of their folders.
func sorted(training map[*exec.Cmd]trainingChild) []trainingChild {
	var all []trainingChild
	for _, c := range training {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b trainingChild) int { return strings.Compare(a.run.dir, b.run.dir) })
	return all
}

// lives says whether a process exists and has not ended.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // not Linux
	}
	name := bytes.LastIndexByte(text, ')')
	return !bytes.HasPrefix(text[name+1:], []byte(" Z"))
}
