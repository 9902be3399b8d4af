package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pgrlab/tui/command/cli"
)

// A second signal ends the program at once within the time again, but not the same signal within the
// time twice: timeout of GNU sends its signal to its child and then to the child's group, and others
// repeat theirs while they wait.
const (
	again = 5 * time.Second
	twice = time.Second
)

// A watch turns signals into the end of a run. The first SIGINT or SIGTERM cancels the run's
// context with the signal as its cause, so that the run saves and ends; a second one ends the process
// at once: see again. SIGUSR1 and SIGUSR2 save and go on, as the schedulers of clusters expect. SIGHUP,
// the terminal hanging up, only calls hangup, and SIGPIPE, a reader that is gone, does nothing: a
// terminal is a view, never the owner of a run.
type watch struct {
	signals chan os.Signal
	cancel  context.CancelCauseFunc
	now     func() time.Time
	exit    func(status int) // ends the process
	hangup  func()           // must not block
	save    func(by string)  // requests a checkpoint; must not block
	say     func(again string)
	stopped chan struct{}
}

// StartWatch watches until stop is called. The context that it returns is for the run. say is called
// at the first signal, with what a second one would do, and has to tell the person what happens now.
// exit has to end the process.
func StartWatch(parent context.Context, exit func(status int), hangup func(), save func(by string), say func(again string)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{
		signals: make(chan os.Signal, 4), cancel: cancel, now: time.Now, exit: exit,
		hangup: hangup, save: save, say: say, stopped: make(chan struct{}),
	}
	signal.Notify(w.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2)
	done := make(chan struct{})
	go func() { defer close(done); w.loop() }()
	return ctx, func() {
		signal.Stop(w.signals)
		close(w.stopped)
		<-done
		cancel(nil)
	}
}

func (w *watch) loop() {
	var asked time.Time
	var first os.Signal
	for {
		select {
		case <-w.stopped:
			return
		case s := <-w.signals:
			if s == syscall.SIGPIPE {
				continue
			}
			if s == syscall.SIGHUP {
				w.hangup()
				continue
			}
			if s == syscall.SIGUSR1 || s == syscall.SIGUSR2 {
				w.save(unix.SignalName(s.(syscall.Signal)))
				continue
			}
			now := w.now()
			if since := now.Sub(asked); !asked.IsZero() && since < again {
				if s == first && since < twice {
					continue
				}
				w.exit(cli.ExitStatus(cli.Signalled{Signal: s}))
				return
			}
			asked, first = now, s
			w.cancel(cli.Signalled{Signal: s}) // first, so that the message is true
			w.say("; once more in 1 to 5 s ends at once")
		}
	}
}
