package session

import (
	"os"
	"os/signal"
	"syscall"

	"pgrlab/core/event"
)

// onSuspend handles SIGTSTP, which comes from a terminal that reads the keyboard itself, and at any
// time from kill. If there is a run to leave it asks for that, as ctrl+z on the screen does;
// otherwise it stops the process, as the shell expects. A run that is being handed over is not
// stopped halfway. stop ends the handling.
func onSuspend(leaving chan<- struct{}, leaves func() bool) (stop func()) {
	signals, quit, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP)
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-signals:
			}
			if leaves() {
				select {
				case leaving <- struct{}{}:
				default: // already asked for
				}
				continue
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // Go cannot restore SIGTSTP's default action
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
		<-done
	}
}

// onSuspend handles SIGTSTP while the session has a screen.
func (s *session) onSuspend() (stop func()) { return onSuspend(s.leaving, s.leaves) }

// leaves says whether there is a run that goes on when its screen is left, or will once it has
// started.
func (s *session) leaves() bool {
	l := s.live.Load()
	if l == nil {
		return true
	}
	state := l.Snapshot().State
	return state != event.Finished && state != event.FailedState
}
