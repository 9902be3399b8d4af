package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
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

	mu        sync.Mutex
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

// process is an attempt. Closing its input ends it.
type process struct {
	*os.Process
	input io.Closer
}

const (
	// maxKilled is how many attempts in a row may be killed from outside, for example by a
	// system short of memory, before the job counts as failed.
	maxKilled = 3
	// lookAgain is the time between two checks of jobs that other processes work at.
	lookAgain = time.Second
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

// Signal sends a signal to all processes.
func (e *Engine) Signal(s os.Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.processes {
		p.Signal(s) // fails for one that has ended, which does not matter
	}
}

// end makes all processes save themselves and end. It does not use a signal: a signal that
// ends this process may have been sent to its child processes as well, and a second one
// within seconds would end them at once.
func (e *Engine) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.processes {
		p.input.Close()
	}
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
// runs, next waits, because a failed job may still be asked for again.
func (e *Engine) next(ctx context.Context) (j Job, more bool) {
	for {
		most := e.Workers
		if e.Most != nil {
			most = e.Most()
		}
		e.mu.Lock()
		waits := len(e.waiting) > 0
		if waits && e.count(Running) < most {
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

// work makes attempts at a job until it is done, given up, or found to be in the hands of
// another process.
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

// attempt runs one process to its end. A status below 0 means that it was killed. In a folder that is
// no longer the sweep's none begins, and how one ended means nothing. The last words say why it failed.
func (e *Engine) attempt(ctx context.Context, j Job) (status int, last string, err error) {
	device, leave := e.occupy()
	defer leave()
	c := e.Process(j, device)
	input, alive, err := os.Pipe()
	if err != nil {
		return 0, "", fmt.Errorf("start: %w", err)
	}
	defer alive.Close()
	said, before := new(words), len(e.Grid.attempts(j))
	c.Stdin, c.Stdout, c.Stderr = input, io.Discard, said
	c.WaitDelay = time.Second                           // a process of its own that outlives it keeps its standard error
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl-c on the terminal is for the sweep
	moved := e.moved()
	e.mu.Lock()
	if moved || ctx.Err() != nil {
		e.mu.Unlock()
		input.Close()
		return StatusAgain, "", nil
	}
	err = c.Start()
	if err == nil {
		e.processes[j.Index] = process{c.Process, alive}
	}
	e.mu.Unlock()
	input.Close()
	if err != nil {
		return 0, "", fmt.Errorf("start: %w", err)
	}
	err = c.Wait()
	e.mu.Lock()
	delete(e.processes, j.Index)
	e.mu.Unlock()
	if e.moved() {
		return StatusAgain, "", nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, "", err
	}
	return c.ProcessState.ExitCode(), e.Grid.lastWords(j, before, said), nil
}

// occupy chooses the device of an attempt and reserves it until leave is called.
func (e *Engine) occupy() (device string, leave func()) {
	if len(e.Devices) == 0 {
		return "", func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	least := slices.Index(e.busy, slices.Min(e.busy))
	e.busy[least]++
	return e.Devices[least], func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy[least]--
	}
}
