package forks

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
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
// out of memory harms nothing else. They take turns of one evaluation each, so that all advance
// together and can be compared on the way.
type Group struct {
	Begin func(dir string) *exec.Cmd // makes the process that trains a child; nil: this program does
	began func(*os.Process)          // is given each process that was started; may be nil
	piped func(*Child, []*os.File)   // is given what a process is about to get of its turns; may be nil

	making  sync.Mutex     // held while the children of a plan are made and added
	refused error          // why no plan is carried out now; nil: plans are
	working sync.WaitGroup // counts children with a process

	mu      sync.Mutex
	room    Room // zero: for two at a time
	plans   int
	waiting []*Child // without a process
	begun   []*Child // with one
	busy    int      // number of those whose turn it is
	running map[*exec.Cmd]*Child
	stopped map[*exec.Cmd]trainingChild
	over    bool
	set     bool // free: running children go on without this process
}

// Room is how many children there is room for.
type Room struct {
	AtATime int // that train at the same time
	Begun   int // that have a process, in which most of them wait for their turn
}

// RoomBeside is the room beside a run with so many threads: one child at a time for each core that the
// run leaves free, and at least two. The children have lower priority than the run, and the run's
// workers wait for each other: two children, one on each of two cores, hold the run up no longer than
// one does. Each child needs about as much memory as the run itself; there is always room for one.
func RoomBeside(threads int) Room { return inMemory(max(2, runtime.NumCPU()-max(2, threads))) }

// RoomAlone is the room while the run waits: one child at a time for each core.
func RoomAlone() Room { return inMemory(max(2, runtime.NumCPU())) }

// inMemory is the room for n children at a time, less what the memory does not allow.
func inMemory(n int) Room {
	own, free := system.Resident(), system.FreeMemory()
	if own <= 0 || free < 0 {
		return Room{n, n}
	}
	most := max(1, int(free/own))
	return Room{min(n, most), most}
}

// Pace is how quickly children train beside a run with so many threads: at their nice value they get
// a tenth of a core on which the run trains (Linux weighs 110 against 1024). startup is how long a
// process takes until it trains.
func Pace(threads int, startup time.Duration, onGPU bool) pane.ForkPace {
	n, cores := RoomBeside(threads).AtATime, runtime.NumCPU()
	if threads < 1 || threads > cores {
		threads = cores
	}
	free := min(n, cores-threads)
	return pane.ForkPace{
		AtATime: n, Paused: float64(min(RoomAlone().AtATime, cores)), Beside: float64(free) + nicedShare*float64(min(n, cores)-free),
		Threads: threads, Start: startup, OnGPU: onGPU,
	}
}

// nicedShare is the share of a core that a process at childNice gets beside one at 0.
const nicedShare = 110. / (1024 + 110)

// Child is one child.
type Child struct {
	dir string

	// of its group, whose lock they need
	plan  int      // plans come one after another
	turns int      // evaluations that it has made
	turn  bool     // it has the turn
	grant *os.File // where it reads that it has; nil before its process is started

	over func() // is called when it trains no more; may be nil
	mu   sync.Mutex
	err  error
}

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

func (c *Child) end() {
	if c.over != nil {
		c.over()
	}
}

// trainChild makes the process that trains a child: this program, in turns that it waits for.
func trainChild(dir string) *exec.Cmd {
	return cli.Self("train", "--resume", dir, "--threads", "1", "--"+TurnsFlag)
}

// Add makes the children of a plan and lets them be trained in room; over waits until none of them is
// any more. With an error it returns those that could be made. Plans are made one after another: what the
// next one makes depends on the folders of those before.
func (b *Group) Add(room func() Room, plan func() ([]pane.Child, error)) (children []pane.Child, over func(), err error) {
	b.making.Lock()
	defer b.making.Unlock()
	if b.refused != nil {
		return nil, func() {}, b.refused
	}
	made, err := plan()
	var all []*Child
	left := &sync.WaitGroup{}
	for i := range made {
		left.Add(1)
		c := &Child{dir: made[i].Dir, over: left.Done}
		made[i].Failed = c.failed
		all = append(all, c)
	}
	b.mu.Lock()
	b.room = room()
	b.room.Begun += len(b.begun) // which have their memory
	b.mu.Unlock()
	b.add(all...)
	return made, left.Wait, err
}

// Refuse waits for the children that are being made, and refuses plans after them, until allow is called.
func (b *Group) Refuse(why error) (allow func()) {
	refuse := func(why error) {
		b.making.Lock()
		defer b.making.Unlock()
		b.refused = why
	}
	refuse(why)
	return func() { refuse(nil) }
}

// Has says whether a child waits or trains in this group.
func (b *Group) Has(dir string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(slices.Concat(b.waiting, b.begun), func(c *Child) bool { return rundir.Absolute(c.dir) == rundir.Absolute(dir) })
}

// Wait waits until no child trains any more.
func (b *Group) Wait() { b.working.Wait() }

// add lets the children of a plan be trained.
func (b *Group) add(all ...*Child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plans++
	for _, c := range all {
		c.plan = b.plans
	}
	b.waiting = append(b.waiting, all...)
	b.deal()
}

// deal gives turns to children while there is room. The lock is held.
func (b *Group) deal() {
	for b.over && len(b.waiting) > 0 {
		b.waiting[0].fail(fmt.Errorf("%w, not begun: pgrlab train --resume begins it", pane.ErrStopped))
		b.waiting[0].end()
		b.waiting = b.waiting[1:]
	}
	room := cmp.Or(b.room, Room{2, 2})
	for b.busy < room.AtATime {
		c := b.next(room)
		if c == nil {
			return
		}
		b.busy++
		c.turn = true
		if c.grant != nil {
			_, _ = c.grant.Write([]byte{1}) // if it has ended meanwhile, its turn ends with it
			continue
		}
		b.waiting, b.begun = b.waiting[1:], append(b.begun, c)
		begin := b.Begin
		if begin == nil {
			begin = trainChild
		}
		cmd := begin(c.dir)
		if b.running == nil {
			b.running = map[*exec.Cmd]*Child{}
		}
		b.running[cmd] = c
		b.working.Go(func() { b.train(c, cmd) })
	}
}

// next is the child that comes next: of the first plan, the one that has had the fewest turns; nil if
// none waits, or those that do have to wait for memory.
func (b *Group) next(room Room) (next *Child) {
	if len(b.waiting) > 0 && len(b.begun) < room.Begun {
		next = b.waiting[0]
	}
	for _, c := range b.begun {
		if !c.turn && c.grant != nil && (next == nil || cmp.Or(cmp.Compare(c.plan, next.plan), cmp.Compare(c.turns, next.turns)) < 0) {
			next = c
		}
	}
	return next
}

// train trains a child to its end.
func (b *Group) train(c *Child, cmd *exec.Cmd) {
	out, err := run.AppendFile(c.dir, "train.log")
	if err == nil {
		cmd.Stdout, cmd.Stderr = out, out
		err = b.inTurns(c, cmd)
		out.Close()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == cli.StatusElsewhere {
		err = fmt.Errorf("%w here: it is in use by another pgrlab: pgrlab attach %s shows it", pane.ErrStopped, shell.Word(rundir.Near(c.dir)))
	}
	if where, done := rundir.Standing(c.dir); err == nil && !done {
		err = fmt.Errorf("%w, %s: pgrlab train --resume %s continues it", pane.ErrStopped, where, shell.Word(rundir.Near(c.dir)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over && !b.set {
		err = fmt.Errorf("%w, with its parent: pgrlab train --resume continues it", pane.ErrStopped)
	}
	delete(b.running, cmd)
	if err != nil {
		c.fail(fmt.Errorf("%w (see its train.log)", err))
	}
	b.begun = slices.DeleteFunc(b.begun, func(o *Child) bool { return o == c })
	if c.turn {
		b.busy--
	}
	c.end()
	b.deal()
}

// inTurns runs the process of a child, which asks for each turn after its first.
func (b *Group) inTurns(c *Child, cmd *exec.Cmd) error {
	grant, asked, err := turnPipes(cmd)
	if err != nil {
		return err
	}
	defer grant.Close()
	if b.piped != nil {
		b.piped(c, cmd.ExtraFiles)
	}
	asking := make(chan struct{})
	err = b.start(cmd, func() { c.grant = grant })
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	go func() {
		defer close(asking)
		defer asked.Close()
		for one := make([]byte, 1); ; {
			if _, err := asked.Read(one); err != nil {
				return // it has ended
			}
			b.mu.Lock()
			c.turns++
			if c.turn {
				c.turn = false
				b.busy--
			}
			b.deal()
			b.mu.Unlock()
		}
	}()
	if err == nil {
		err = cmd.Wait()
	}
	<-asking
	b.mu.Lock()
	c.grant = nil
	b.mu.Unlock()
	return err
}

// start starts a process with lower priority than the run; a closed group starts none.
func (b *Group) start(cmd *exec.Cmd, begun func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return fmt.Errorf("%w, not begun", pane.ErrStopped)
	}
	if err := cli.StartNice(cmd, childNice); err != nil {
		return err
	}
	begun()
	if b.began != nil {
		b.began(cmd.Process)
	}
	return nil
}
