package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"pgrlab/core/run"
	"pgrlab/presets"
)

// end stops the children that train, waits until they have saved themselves, and begins
// no other one. It says what became of each.
func (b *forkGroup) end() (said []string) {
	training, waiting := b.close(false)
	for cmd := range training {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	}
	b.working.Wait()
	for _, c := range sorted(training) {
		if where, done := standing(c.run.dir); done {
			said = append(said, fmt.Sprintf("its fork %s has made all its steps", near(c.run.dir)))
		} else {
			said = append(said, fmt.Sprintf("its fork %s is saved %s: pgrlab train --resume %s goes on with it", near(c.run.dir), where, near(c.run.dir)))
		}
	}
	for _, c := range waiting {
		said = append(said, fmt.Sprintf("its fork %s was not begun: pgrlab train --resume %s begins it", near(c.dir), near(c.dir)))
	}
	return said
}

// release lets the children that train go on without this process, and leaves those that
// wait for their turn to a process of their own, which begins makes. It says how to get to
// each.
func (b *forkGroup) release(begin func(args ...string) *exec.Cmd) (said []string) {
	room := 2
	if b.room != nil {
		room = b.room()
	}
	training, waiting := b.close(true)
	args := []string{trainForks, "--beside", strconv.Itoa(room)}
	for _, c := range sorted(training) {
		pid, dir := c.command.Process.Pid, near(c.run.dir)
		args = append(args, "--after", strconv.Itoa(pid))
		where, _ := standing(c.run.dir)
		said = append(said, fmt.Sprintf("its fork %s goes on (pid %d) %s: pgrlab attach %s", dir, pid, where, dir))
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
		text := fmt.Sprintf("its fork %s was not begun: %v: pgrlab train --resume %s begins it", near(c.dir), err, near(c.dir))
		if err == nil {
			text = fmt.Sprintf("its fork %s waits for its turn: pid %d begins it (kill %d: it does not)", near(c.dir), queue.Process.Pid, queue.Process.Pid)
		}
		said = append(said, text)
	}
	return said
}

// close begins no more children and takes those that are left.
func (b *forkGroup) close(free bool) (training map[*exec.Cmd]trainingChild, waiting []*childRun) {
	b.making.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.set = true, free
	training = map[*exec.Cmd]trainingChild{}
	for cmd, c := range b.running {
		if cmd.Process != nil {
			training[cmd] = trainingChild{c, cmd}
		} else { // it is about to be started, and will not be
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
	run     *childRun
	command *exec.Cmd
}

// sorted are the children by their folders.
func sorted(training map[*exec.Cmd]trainingChild) []trainingChild {
	var all []trainingChild
	for _, c := range training {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b trainingChild) int { return strings.Compare(a.run.dir, b.run.dir) })
	return all
}

// standing is how far the run in a folder has come, as its journal says.
func standing(dir string) (where string, done bool) {
	step, steps := 0, 0
	if text, err := run.ReadFile(dir, run.JournalName); err == nil {
		for r := run.NewReader(bytes.NewReader(text)); ; {
			e, err := r.Next()
			if err != nil {
				break
			}
			step = max(step, e.Step)
		}
	}
	config, err := presets.Resolve(presets.Choice{Preset: filepath.Join(dir, run.ConfigName)})
	if err == nil {
		steps = config.Steps
	}
	return fmt.Sprintf("at step %d of %d", step, steps), complete(dir, steps)
}

// lives says whether a process is there and has not ended.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no Linux
	}
	name := bytes.LastIndexByte(text, ')')
	return !bytes.HasPrefix(text[name+1:], []byte(" Z"))
}
