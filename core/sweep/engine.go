package sweep

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"pgrlab/core/run"
)

// State is the state of a job, as seen by this engine.
type State int

// The states.
const (
	Waiting State = iota
	Running
	Elsewhere // another process works at it; checked again later
	Done
	Left    // taken out of the work
	Failed  // ended by itself with an error; not tried again unless Again is called
	Stopped // saved and ended on request
)

// Engine does the work of a grid with processes on this machine.
type Engine struct {
	Grid    *Grid
	Workers int
	// Devices lists the devices for attempts. Each attempt gets the device that has the fewest
	// attempts. If there are none, the attempts choose themselves.
	Devices []string
	// Process makes the process of an attempt, not yet started, on a device if there are any.
	// Its input ends when this process ends; it then has to save itself and end.
	Process func(j Job, device string) *exec.Cmd
	// Say is called with one line about what happened to a job.
	Say func(text string)
	// Ended is called with a job that has been done, before its state says so; may be nil.
	Ended func(j Job)
	// Leaves says that the engine ends when the only jobs left are those that other processes
	// work at. Otherwise it stays and takes over the jobs that they give up.
	Leaves bool
	// Most returns how many attempts may run now, at least one and at most Workers; nil means
	// Workers. It is called every second while jobs wait.
	Most func() int

	free      func(dir string) int64 // of tests; nil: run.Free
	mu        sync.Mutex
	full      bool // it was said that the disk is full
	states    []State
	processes map[int]process
	killed    []int         // number of attempts killed in a row, by job
	tried     []int         // number of the last attempt at each job that had ended when Run began, or Again asked for it
	waiting   []Job         // in the order in which they are tried
	elsewhere []Job         // jobs found to be in the hands of other processes
	changed   chan struct{} // closed when a state has changed
	busy      []int         // number of attempts on each device
	stop      context.CancelCauseFunc
}

const (
	// maxKilled is how many attempts in a row may be killed from outside, for example by a
	// system short of memory, before the job counts as failed.
	maxKilled = 3
	// lookAgain is the time between two checks of jobs that other processes work at, and of a full disk.
	lookAgain = time.Second
	// leastFree is less than the beginning of any attempt writes, with some to spare, in bytes.
	leastFree = 4 << 20
)

// States returns the states of the jobs, by index.
func (e *Engine) States() []State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]State(nil), e.states...)
}

// Changed returns a channel that is closed at the next change of a state; nil before Run.
func (e *Engine) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

func (e *Engine) set(j Job, s State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states[j.Index] = s
	e.wake()
}

// Run does the missing jobs. When ctx ends, or the sweep's folder is moved away, the processes save
// themselves and end.
func (e *Engine) Run(parent context.Context) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	e.mu.Lock()
	e.stop = stop
	n := len(e.Grid.Jobs)
	e.states, e.processes, e.killed = make([]State, n), map[int]process{}, make([]int, n)
	e.busy, e.tried = make([]int, len(e.Devices)), make([]int, n)
	e.waiting, e.elsewhere, e.changed = nil, nil, make(chan struct{})
	for _, j := range e.Grid.Jobs {
		if e.Grid.left[j.Index] {
			e.states[j.Index] = Left
			continue
		}
		if _, done := e.Grid.Result(j); done {
			e.states[j.Index] = Done
			continue
		}
		e.waiting, e.tried[j.Index] = append(e.waiting, j), e.last(j)
	}
	e.mu.Unlock()
	defer context.AfterFunc(ctx, e.end)()
	var working sync.WaitGroup
	for range e.Workers {
		working.Go(func() {
			for j, more := e.next(ctx); more; j, more = e.next(ctx) {
				e.work(ctx, j)
			}
		})
	}
	var watching sync.WaitGroup
	ended := make(chan struct{})
	watching.Go(func() {
		tick := time.NewTicker(lookAgain)
		defer tick.Stop()
		for !e.moved() {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	})
	working.Wait()
	close(ended)
	watching.Wait()
	return e.verdict(ctx)
}

// moved says whether the sweep's folder was moved away, and ends the work if it was.
func (e *Engine) moved() bool {
	err := e.Grid.Stands()
	if err != nil {
		e.stop(err)
	}
	return err != nil
}

// next returns the job to try next, or false if none is left. Jobs that other processes work
// at come last, and after a pause, so that engines of one grid divide the work. While a job
// runs, next waits, because a failed job may still be asked for again. It also waits while the disk is full.
func (e *Engine) next(ctx context.Context) (j Job, more bool) {
	for {
		most := e.Workers
		if e.Most != nil {
			most = e.Most()
		}
		full := e.isFull()
		e.mu.Lock()
		waits := len(e.waiting) > 0
		if waits && !full && e.count(Running) < most {
			j, e.waiting = e.waiting[0], e.waiting[1:]
			e.states[j.Index] = Running
			e.mu.Unlock()
			return j, true
		}
		others, changed := len(e.elsewhere), e.changed
		running := slices.Contains(e.states, Running)
		e.mu.Unlock()
		var look <-chan time.Time
		switch {
		case waits || others > 0 && (running || !e.Leaves):
			look = time.After(lookAgain)
		case !running:
			return j, false
		}
		select {
		case <-ctx.Done():
			return j, false
		case <-changed:
			continue
		case <-look:
		}
		e.mu.Lock()
		e.waiting, e.elsewhere = append(e.waiting, e.elsewhere...), nil
		e.mu.Unlock()
	}
}

// count returns the number of jobs in a state. It is called with the lock held.
func (e *Engine) count(s State) (n int) {
	for _, is := range e.states {
		if is == s {
			n++
		}
	}
	return n
}

// Again makes the engine try jobs again that failed or were stopped.
func (e *Engine) Again() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range e.states {
		if s == Failed || s == Stopped {
			e.states[i], e.killed[i], e.tried[i] = Waiting, 0, e.last(e.Grid.Jobs[i])
			e.waiting = append(e.waiting, e.Grid.Jobs[i])
		}
	}
	e.wake()
}

// last is the number of the last attempt at a job that has ended; 0: none has.
func (e *Engine) last(j Job) int {
	all := e.Grid.attempts(j)
	if len(all) == 0 {
		return 0
	}
	if _, ended := e.Grid.LastEnding(j); !ended {
		return all[0] - 1
	}
	return all[0]
}

// stopped says whether a person has stopped a job since this engine began, in whatever engine.
func (e *Engine) stopped(j Job) bool {
	how, ended := e.Grid.LastEnding(j)
	e.mu.Lock()
	defer e.mu.Unlock()
	return ended && how.Status == StatusStopped && how.Number > e.tried[j.Index]
}

// wake wakes the goroutines that wait for a job. It is called with the lock held.
func (e *Engine) wake() {
	if e.changed == nil {
		return // Run has not been called
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// leave puts back a job that another process works at.
func (e *Engine) leave(j Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states[j.Index] = Elsewhere
	e.elsewhere = append(e.elsewhere, j)
	e.wake()
}

// back makes a job the next one to be tried.
func (e *Engine) back(j Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states[j.Index] = Waiting
	e.waiting = append([]Job{j}, e.waiting...)
	e.wake()
}

// isFull says whether the sweep's disk has no room for an attempt, and reports it once if jobs wait.
func (e *Engine) isFull() bool {
	look := run.Free
	if e.free != nil {
		look = e.free
	}
	free := look(e.Grid.Path())
	full := free > 0 && free < leastFree // 0: it is not known
	e.mu.Lock()
	first := full && !e.full && len(e.waiting) > 0
	e.full = full && (e.full || first)
	e.mu.Unlock()
	if first {
		e.Say(fmt.Sprintf("%s: no room is left on its disk: jobs wait until there is some", e.Grid.Path()))
	}
	return full
}

// work makes attempts at a job until it is done, given up, found to be in the hands of another
// process, or without room on the disk.
func (e *Engine) work(ctx context.Context, j Job) {
	for ctx.Err() == nil {
		if r, done := e.Grid.Result(j); done {
			e.done(j)
			e.Say(Said(r))
			return
		}
		if e.Grid.IsHeld(j) {
			e.leave(j)
			return
		}
		if e.stopped(j) {
			e.set(j, Stopped)
			e.Say(j.Name() + ": stopped by hand; start the sweep again to continue it")
			return
		}
		if e.isFull() { // an attempt would fail within seconds
			e.back(j)
			return
		}
		e.set(j, Running)
		status, words, err := e.attempt(ctx, j)
		switch {
		case err != nil:
			e.set(j, Failed)
			e.Say(fmt.Sprintf("%s: %v", j.Name(), err))
			return
		case status == 0, status == StatusAgain: // a result says whether it is done
			e.killed[j.Index] = 0
		case status == StatusElsewhere:
			e.leave(j)
			return
		case status < 0:
			if e.killed[j.Index]++; e.killed[j.Index] >= maxKilled {
				e.set(j, Failed)
				e.Say(fmt.Sprintf("%s: killed %d times in a row: given up for now", j.Name(), maxKilled))
				return
			}
			e.Say(j.Name() + ": killed; goes on where it was saved last")
		case status == StatusStopped:
			e.set(j, Stopped)
			e.Say(j.Name() + ": stopped by hand; start the sweep again to continue it")
			return
		default:
			e.set(j, Failed)
			e.Say(fmt.Sprintf("%s: failed with status %d: %s", j.Name(), status, words))
			return
		}
	}
	if _, done := e.Grid.Result(j); done {
		e.done(j)
		return
	}
	e.set(j, Stopped)
}

func (e *Engine) done(j Job) {
	if e.Ended != nil {
		e.Ended(j)
	}
	e.set(j, Done)
}
