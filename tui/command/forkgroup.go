package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/system"
)

// childNice is how much a child stands back behind the run that it was forked from.
const childNice = 10

// A forkGroup is the children of a run that a person forked on the screen. They are
// trained side by side, as many as there is room for, by processes of their own, so
// that a child that fails or runs out of memory takes nothing with it.
type forkGroup struct {
	begin func(dir string) *exec.Cmd // the process that trains a child; nil: trainChild
	room  func() int                 // how many may train at a time; nil: two
	began func(*os.Process)          // is told of each process that was started; nil: it need not be

	making  sync.WaitGroup // of plans whose children are being made
	working sync.WaitGroup // of goroutines that train

	mu      sync.Mutex
	waiting []*childRun
	busy    int // how many are being trained
	running map[*exec.Cmd]*childRun
	over    bool
	set     bool // free: what runs goes on without this process
}

// roomBeside is how many children train at a time beside a run on so many threads:
// one for each core that it leaves, and two in any case, so that the children of a
// pair go on together. These stand back behind the run, and its workers wait for each
// other: two children, one on each of two cores, hold it up no longer than one does.
// Where memory is short, each needing about as much as the run itself, it is one.
func roomBeside(threads int) int {
	n := max(2, runtime.NumCPU()-max(2, threads))
	if own, free := system.Resident(), system.FreeMemory(); own > 0 && free >= 0 {
		n = max(1, min(n, int(free/own)))
	}
	return n
}

// childRun is one child.
type childRun struct {
	dir string
	mu  sync.Mutex
	err error
}

// failed says why the child was given up.
func (c *childRun) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *childRun) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// trainChild is this program, going on with a run folder on one thread.
func trainChild(dir string) *exec.Cmd {
	return self("train", "--resume", dir, "--threads", "1")
}

// fork makes the children of a plan and lets them wait for their turn. What could be
// made comes with an error.
func (s *session) fork(p pane.ForkPlan) ([]pane.Child, error) {
	s.forks.making.Add(1)
	defer s.forks.making.Done()
	made, err := s.children(p)
	s.forks.room = func() int { return roomBeside(s.threads) }
	for i := range made {
		c := &childRun{dir: made[i].Dir}
		made[i].Failed = c.failed
		s.forks.add(c)
	}
	return made, err
}

// children makes the folders of a plan's children.
func (s *session) children(p pane.ForkPlan) ([]pane.Child, error) {
	if p.Confirm {
		return s.confirmation(p)
	}
	from, err := checkpointAt(s.folder.Dir())
	if err != nil {
		return nil, err
	}
	kind := [2]string{"control", "changed"}
	if len(p.Set) == 0 {
		kind = [2]string{"placebo-a", "placebo-b"}
	}
	return s.pairs(p, func(pair int, changed bool) (pane.Child, error) {
		c := pane.Child{Pair: pair, Changed: changed, From: from.Step, To: from.Step + p.Steps}
		config := s.config
		config.Steps = c.To
		config.Seed += 1 + uint64(pair)
		name := kind[0]
		set := []string(nil)
		if changed {
			name, set = kind[1], p.Set
			if len(p.Set) == 0 {
				config.Seed += 1_000 // nothing differs but this
			}
		}
		c.Dir = free(fmt.Sprintf("%s-fork-%d-%s-s%d", filepath.Clean(s.folder.Dir()), from.Step, name, config.Seed))
		doc, err := presets.Encode(config)
		if err == nil {
			_, err = lab.Fork(config, doc, from, set, c.Dir) // the parent is this run, which can be written to
		}
		return c, err
	})
}

// confirmation writes the changes of the run into a preset, and makes runs with it
// and runs without, from the beginning and on seeds that the run did not have.
func (s *session) confirmation(p pane.ForkPlan) ([]pane.Child, error) {
	schedule, err := lab.ReadSchedule(s.folder.Dir())
	if err != nil {
		return nil, err
	}
	changed := s.config
	changed.Schedule = nil
	for _, c := range schedule {
		changed.Schedule = append(changed.Schedule, c.String())
	}
	doc, err := presets.Encode(changed)
	if err != nil {
		return nil, err
	}
	preset := free(filepath.Clean(s.folder.Dir())+"-schedule") + ".toml"
	if err := os.WriteFile(preset, doc, 0o644); err != nil {
		return nil, fmt.Errorf("write preset: %w", err)
	}
	return s.pairs(p, func(pair int, is bool) (pane.Child, error) {
		c := pane.Child{Pair: pair, Changed: is, To: s.config.Steps}
		config, name := s.config, "control"
		if is {
			config, name = changed, "confirm"
		}
		config.Seed += 1 + uint64(pair)
		c.Dir = free(fmt.Sprintf("%s-%s-s%d", filepath.Clean(s.folder.Dir()), name, config.Seed))
		doc, err := presets.Encode(config)
		if err != nil {
			return c, err
		}
		folder, err := run.Create(c.Dir, doc)
		if err != nil {
			return c, err
		}
		return c, folder.Close()
	})
}

// pairs makes two children a pair, in the order in which they are trained: a pair is
// whole before the next one begins.
func (s *session) pairs(p pane.ForkPlan, one func(pair int, changed bool) (pane.Child, error)) (made []pane.Child, err error) {
	for pair := range p.Pairs {
		for _, changed := range []bool{false, true} {
			c, err := one(pair, changed)
			if err != nil {
				return made, err
			}
			made = append(made, c)
		}
	}
	return made, nil
}

// add lets a child wait for its turn.
func (b *forkGroup) add(c *childRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	room := 2
	if b.room != nil {
		room = b.room()
	}
	if b.busy < room {
		b.busy++
		b.working.Go(b.train)
	}
}

// train trains children that wait, one after another; several do so side by side.
func (b *forkGroup) train() {
	for c, cmd := b.next(); c != nil; c, cmd = b.next() {
		out, err := run.AppendFile(c.dir, "train.log")
		if err == nil {
			cmd.Stdout, cmd.Stderr = out, out
			err = b.start(cmd)
			if err == nil {
				err = cmd.Wait()
			}
			out.Close()
		}
		b.mu.Lock()
		if b.over && !b.set {
			err = errors.New("stopped with its parent: pgrlab train --resume goes on with it")
		}
		delete(b.running, cmd)
		b.mu.Unlock()
		if err != nil {
			c.fail(fmt.Errorf("%w (see its train.log)", err))
		}
	}
}

// next takes the first child that waits, and makes its process; nil when none
// waits any more.
func (b *forkGroup) next() (*childRun, *exec.Cmd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.over && len(b.waiting) > 0 {
		b.waiting[0].fail(errors.New("not begun: pgrlab train --resume begins it"))
		b.waiting = b.waiting[1:]
	}
	if len(b.waiting) == 0 {
		b.busy--
		return nil, nil
	}
	c := b.waiting[0]
	b.waiting = b.waiting[1:]
	begin := b.begin
	if begin == nil {
		begin = trainChild
	}
	cmd := begin(c.dir)
	if b.running == nil {
		b.running = map[*exec.Cmd]*childRun{}
	}
	b.running[cmd] = c
	return c, cmd
}

// start starts a process behind the run; a group that is over starts none.
func (b *forkGroup) start(cmd *exec.Cmd) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return errors.New("not begun")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // neither ctrl+c on the terminal nor its end is for it
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, childNice) // it helps, but need not be allowed
	if b.began != nil {
		b.began(cmd.Process)
	}
	return nil
}
