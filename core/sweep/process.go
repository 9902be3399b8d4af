package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// process is an attempt. Closing its input ends it.
type process struct {
	*os.Process
	input io.Closer
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
