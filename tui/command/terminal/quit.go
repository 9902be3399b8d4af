package terminal

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"pgrlab/tui/command/cli"
)

// EndAtQuit makes SIGQUIT (ctrl-\ on a terminal) end the program at once, as a second ctrl-c does,
// until stop is called. Without it Go would print the stacks of all goroutines, which is what SIGABRT
// is for. exit has to end the process.
func EndAtQuit(w io.Writer, exit func(status int)) (stop func()) {
	signals, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGQUIT)
	go func() {
		select {
		case s := <-signals:
			fmt.Fprintln(w, "pgrlab: ended at once by SIGQUIT (ctrl-\\), without saving")
			exit(cli.ExitStatus(cli.Signalled{Signal: s}))
		case <-stopped:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(stopped)
	}
}
