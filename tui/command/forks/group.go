package forks

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/system"
)

// childNice is the nice value by which a child gives way to the run that it was forked from.
const childNice = 10

// A Group is the children of a run that a person forked on the screen. They are trained side by
// side, as many as there is room for, in processes of their own, so that a child that fails or runs
// out of memory harms nothing else.
type Group struct {
	Begin func(dir string) *exec.Cmd // makes the process that trains a child; nil: this program does
	room  func() int                 // how many may train at the same time; nil: two
	began func(*os.Process)          // is given each process that was started; may be nil

	making  sync.WaitGroup // counts plans whose children are being made
	working sync.WaitGroup // counts goroutines that train

	mu      sync.Mutex
	waiting []*Child
	busy    int // number of children in training
	running map[*exec.Cmd]*Child
	over    bool
	set     bool // free: running children go on without this process
}

// RoomBeside is how many children train at the same time beside a run with so many threads: one for
// each core that the run leaves free, and at least two, so that the children of a pair advance
// together. The children have lower priority than the run, and the run's workers wait for each
// other: two children, one on each of two cores, hold the run up no longer than one does. If memory
// is short, each child needing about as much as the run itself, there may be only one.
func RoomBeside(threads int) int {
	n := max(2, runtime.NumCPU()-max(2, threads))
	if own, free := system.Resident(), system.FreeMemory(); own > 0 && free >= 0 {
		n = max(1, min(n, int(free/own)))
	}
	return n
}

// Pace is how quickly children train beside a run with so many threads: at their nice value they get
// a tenth of a core on which the run trains (Linux weighs 110 against 1024). startup is how long a
// process takes until it trains.
func Pace(threads int, startup time.Duration, onGPU bool) pane.ForkPace {
	n, cores := RoomBeside(threads), runtime.NumCPU()
	if threads < 1 || threads > cores {
		threads = cores
	}
	free := min(n, cores-threads)
	return pane.ForkPace{
		AtATime: n, Paused: float64(min(n, cores)), Beside: float64(free) + behind*float64(min(n, cores)-free),
		Threads: threads, Start: startup, OnGPU: onGPU,
	}
}

// behind is the share of a core that a process gets beside one that is childNice before it.
const behind = 110. / (1024 + 110)

// Child is one child.
type Child struct {
	dir string
	mu  sync.Mutex
	err error
}

// failed says why the child was given up.
func (c *Child) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Child) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// trainChild is this program, resuming a run folder on one thread.
func trainChild(dir string) *exec.Cmd {
	return cli.Self("train", "--resume", dir, "--threads", "1")
}

// Add has plan make children and queues them; room says how many may train at the same time. With
// an error it returns the children that could be made.
func (b *Group) Add(room func() int, plan func() ([]pane.Child, error)) ([]pane.Child, error) {
	b.making.Add(1)
	defer b.making.Done()
	made, err := plan()
	b.room = room
	for i := range made {
		c := &Child{dir: made[i].Dir}
		made[i].Failed = c.failed
		b.add(c)
	}
	return made, err
}

// Wait waits until no child trains or waits any longer.
func (b *Group) Wait() { b.working.Wait() }

// add queues a child.
func (b *Group) add(c *Child) {
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

// train trains waiting children one after another; several goroutines do so side by side.
func (b *Group) train() {
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
		if where, done := rundir.Standing(c.dir); err == nil && !done {
			err = fmt.Errorf("%w, %s: pgrlab train --resume %s goes on with it", pane.ErrStopped, where, shell.Word(rundir.Near(c.dir)))
		}
		b.mu.Lock()
		if b.over && !b.set {
			err = fmt.Errorf("%w, with its parent: pgrlab train --resume goes on with it", pane.ErrStopped)
		}
		delete(b.running, cmd)
		b.mu.Unlock()
		if err != nil {
			c.fail(fmt.Errorf("%w (see its train.log)", err))
		}
	}
}

// next takes the first waiting child and makes its process; nil when no child waits.
func (b *Group) next() (*Child, *exec.Cmd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.over && len(b.waiting) > 0 {
		b.waiting[0].fail(fmt.Errorf("%w, not begun: pgrlab train --resume begins it", pane.ErrStopped))
		b.waiting = b.waiting[1:]
	}
	if len(b.waiting) == 0 {
		b.busy--
		return nil, nil
	}
	c := b.waiting[0]
	b.waiting = b.waiting[1:]
	begin := b.Begin
	if begin == nil {
		begin = trainChild
	}
	cmd := begin(c.dir)
	if b.running == nil {
		b.running = map[*exec.Cmd]*Child{}
	}
	b.running[cmd] = c
	return c, cmd
}

// start starts a process with lower priority than the run; a closed group starts none.
func (b *Group) start(cmd *exec.Cmd) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return fmt.Errorf("%w, not begun", pane.ErrStopped)
	}
	if err := cli.StartBehind(cmd, childNice); err != nil {
		return err
	}
	if b.began != nil {
		b.began(cmd.Process)
	}
	return nil
}
