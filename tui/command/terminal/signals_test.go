package terminal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"pgrlab/tui/command/cli"
)

// scripted is a watch whose signals and clock come from the test.
type scripted struct {
	*watch
	ctx     context.Context
	exits   chan int
	hangups chan struct{}
	saves   chan string
	said    chan string
	clock   time.Time
	done    chan struct{}
}

func newScripted(t *testing.T) *scripted {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &scripted{ctx: ctx, exits: make(chan int, 1), hangups: make(chan struct{}, 4), said: make(chan string, 4), saves: make(chan string, 4),
		clock: time.Unix(1000, 0), done: make(chan struct{})}
	s.watch = &watch{
		signals: make(chan os.Signal), cancel: cancel, now: func() time.Time { return s.clock },
		exit: func(n int) { s.exits <- n }, hangup: func() { s.hangups <- struct{}{} },
		save: func(by string) { s.saves <- by },
		say:  func(text string) { s.said <- text }, stopped: make(chan struct{}),
	}
	go func() { defer close(s.done); s.loop() }()
	t.Cleanup(func() { close(s.stopped); <-s.done })
	return s
}

func TestFirstSignalEndsTheRunWithItsStatus(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: cli.StatusInterrupted, syscall.SIGTERM: cli.StatusTerminated} {
		s := newScripted(t)
		s.signals <- signal
		<-s.ctx.Done()
		var cause cli.Signalled
		if !errors.As(context.Cause(s.ctx), &cause) || cli.ExitStatus(cause) != want {
			t.Errorf("%v: cause %v, status %d, want %d", signal, context.Cause(s.ctx), cli.ExitStatus(cause), want)
		}
		if text := <-s.said; text != "; once more in 1 to 5 s ends at once" {
			t.Errorf("said %q", text)
		}
	}
}

func TestSecondSignalWithinFiveSecondsExits(t *testing.T) {
	s := newScripted(t)
	s.signals <- os.Interrupt
	<-s.ctx.Done()
	s.clock = s.clock.Add(4 * time.Second)
	s.signals <- syscall.SIGTERM
	if got := <-s.exits; got != cli.StatusTerminated {
		t.Errorf("exit status %d, want %d", got, cli.StatusTerminated)
	}
}

// The same signal again within a second is the first one: timeout of GNU sends it twice, GNU parallel
// three times.
func TestARepeatedSignalIsOne(t *testing.T) {
	s := newScripted(t)
	s.signals <- syscall.SIGTERM
	<-s.said
	for _, after := range []time.Duration{0, 200 * time.Millisecond, 799 * time.Millisecond} {
		s.clock = s.clock.Add(after)
		s.signals <- syscall.SIGTERM
		select {
		case s.signals <- syscall.SIGHUP:
			<-s.hangups // it is done with both
		case <-s.exits:
			t.Fatalf("it ended %v later", after)
		}
	}
	s.clock = s.clock.Add(time.Millisecond)
	s.signals <- syscall.SIGTERM
	if got := <-s.exits; got != cli.StatusTerminated {
		t.Errorf("exit status %d, want %d", got, cli.StatusTerminated)
	}
}

func TestLateSecondSignalStartsAgain(t *testing.T) {
	s := newScripted(t)
	s.signals <- os.Interrupt
	<-s.said
	s.clock = s.clock.Add(6 * time.Second)
	s.signals <- os.Interrupt
	<-s.said // it asks again instead of exiting
	s.clock = s.clock.Add(time.Second)
	s.signals <- os.Interrupt
	if got := <-s.exits; got != cli.StatusInterrupted {
		t.Errorf("exit status %d, want %d", got, cli.StatusInterrupted)
	}
}

// The loss of the terminal or of the reader of the output does not end a run.
func TestHangupDoesNotEndTheRun(t *testing.T) {
	s := newScripted(t)
	s.signals <- syscall.SIGPIPE
	s.signals <- syscall.SIGHUP
	<-s.hangups
	s.signals <- syscall.SIGHUP
	<-s.hangups
	if err := s.ctx.Err(); err != nil {
		t.Errorf("the run's context ended: %v", err)
	}
}

func TestUserSignalsSaveAndGoOn(t *testing.T) {
	s := newScripted(t)
	for signal, want := range map[os.Signal]string{syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2"} {
		s.signals <- signal
		if got := <-s.saves; got != want || s.ctx.Err() != nil {
			t.Errorf("%v saves as %s, %v", signal, got, s.ctx.Err())
		}
	}
}
