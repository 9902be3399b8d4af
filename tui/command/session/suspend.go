package session

import (
	"os"
	"os/signal"
	"syscall"

	"pgrlab/core/event"
)

// onSuspend minds SIGTSTP, which a terminal sends where it reads the keyboard itself, and
// kill at any time: where there is a run to leave, leaving is asked for, as ctrl+z on the
// screen does; else the process stops, as the shell expects. A run that is being handed
// over is not stopped in the middle of that. stop ends it.
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
				default: // asked already
				}
				continue
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // Go cannot give SIGTSTP its own meaning back
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
		<-done
	}
}

// onSuspend minds SIGTSTP while the session has a screen.
func (s *session) onSuspend() (stop func()) { return onSuspend(s.leaving, s.leaves) }

// leaves says whether there is a run that goes on when its screen is left, or that will
// when it has started.
func (s *session) leaves() bool {
	l := s.live.Load()
	if l == nil {
		return true
	}
	state := l.Snapshot().State
	return state != event.Finished && state != event.FailedState
}
