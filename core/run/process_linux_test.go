package run

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Only the very process gets a signal: the same number on another machine, in another container, after
// another boot or of a process that was started at another time is none.
func TestASignalReachesOnlyTheVeryProcess(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() { c.Process.Kill() })
	child := Self()
	child.PID = c.Process.Pid
	child.Start, _ = startOf(child.PID)
	if child.Start == 0 || child.Boot == "" || child.Space == "" {
		t.Skipf("this system does not say when processes were started: %+v", child)
	}
	for name, change := range map[string]func(p *Process){
		"host":      func(p *Process) { p.Host = "other" },
		"boot":      func(p *Process) { p.Boot = "other" },
		"no boot":   func(p *Process) { p.Boot = "" },
		"container": func(p *Process) { p.Space = "pid:[1]" },
		"no start":  func(p *Process) { p.Start = 0 },
		"start":     func(p *Process) { p.Start++ },
		"group":     func(p *Process) { p.PID = -p.PID },
		"everybody": func(p *Process) { p.PID = -1 },
		"own group": func(p *Process) { p.PID = 0 },
		"init":      func(p *Process) { p.PID = 1 },
	} {
		other := child
		change(&other)
		if err := other.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("it got a signal: %v", err)
	default:
	}
	if err := child.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	if err := child.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after its end: %v", err)
	}
}
