package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
)

// Command is attach.
func Command(d cli.Deps) *cobra.Command {
	var lines, stream bool
	c := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "open the screen of a run in another process",
		Long: `Opens the screen of one of your runs in another process on this machine: a run on
another terminal, or one that train began.

` + whichRun + `

Several screens may show the same run. The first one drives; at the others D takes over.
q asks how to leave; the run goes on, whatever becomes of this terminal. ctrl+\ leaves
at once even if the run does not answer, and ctrl-z suspends the screen, not the run.
When the run ends the screen stays; when the run is left and moves to another process, the
screen follows it.

--plain prints lines instead, and takes commands as lines: detach leaves, quit asks
first. The end of a file or pipe with commands does not leave, so that a log goes on
until the run ends.

A run in a Slurm job on another machine is reached by a step of that job (srun
--overlap), if this program and the run's folder are on a disk that both machines see.`,
		Example: `  pgrlab attach
  pgrlab attach 4242
  pgrlab attach cheetah
  ssh -t HOST pgrlab attach runs/2025-03-01-cheetah-run-pgr-curiosity-s1`,
		Args: cli.RangeArgs(0, 1, "at most one run"),
		RunE: func(c *cobra.Command, args []string) error {
			in, out := c.InOrStdin(), cli.Raw(c.OutOrStdout()).(io.Writer)
			if stream {
				return bridge(c.Context(), args, in, out)
			}
			dir, dial, err := runningLab(c.Context(), c, args)
			if err != nil {
				return err
			}
			if !lines && (!terminal.IsTerminal(in) || !terminal.IsTerminal(out)) {
				return cli.Usagef("attach: needs a terminal: ssh -t, or --plain")
			}
			t := remote.Terminal{
				Keys: in, Output: out, Size: tui.Size{Columns: 80, Rows: 24}, Environ: terminal.Variables(), Characters: terminal.Characters(),
				Plain: lines || os.Getenv("TERM") == "dumb", Name: terminal.Name(),
			}
			if t.Plain && !terminal.IsTerminal(in) {
				t.Keys = unattended{in, c.Context()}
			}
			ended := false
			t.Ended = func() { ended = true }
			said, err := attach(c.Context(), dial, dir, t)
			if err != nil {
				var s cli.Signalled
				if errors.As(err, &s) {
					return err
				}
				return fmt.Errorf("attach %w", err)
			}
			fmt.Fprintln(c.ErrOrStderr(), said)
			if !ended {
				return nil
			}
			if t.Plain {
				return afterEnd(dir, c.ErrOrStderr())
			}
			return showEnd(c, d, dir)
		},
	}
	c.Flags().BoolVar(&lines, "plain", false, "print lines instead of a screen, for screen readers and logs")
	c.Flags().BoolVar(&stream, "stream", false, "copy between the run and standard input and output; attach on another machine starts this here")
	return c
}

// unattended is input without a person: its end is no hang-up, as it would be with a terminal.
type unattended struct {
	io.Reader
	ctx context.Context
}

// Read reads; after the end it waits until ctx ends.
func (u unattended) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if n == 0 && err != nil {
		<-u.ctx.Done()
	}
	return n, err
}

// bridge is the end of a stream on a run's machine.
func bridge(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return cli.Usagef("attach: --stream needs the folder of a run")
	}
	socket, err := remote.Find(args[0])
	if err == nil {
		err = remote.Bridge(ctx, socket, args[0], in, out)
	}
	if err != nil {
		return fmt.Errorf("attach %w", err)
	}
	return nil
}

// attach shows the screen on this process's terminal, and restores the terminal afterwards.
func attach(parent context.Context, dial remote.Dial, dir string, t remote.Terminal) (string, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			cancel(cli.Signalled{Signal: s})
		case <-ctx.Done():
		}
	}()
	if t.Plain {
		return remote.Attach(ctx, dial, dir, t)
	}
	in, out := t.Keys.(*os.File), t.Output.(*os.File)
	sizes := make(chan tui.Size, 1)
	t.Sizes = sizes
	t.Size = terminal.SizeOf(out, t.Size)
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("%s: take the terminal: %w", dir, err)
	}
	defer term.Restore(int(in.Fd()), before)
	keys, err := terminal.NewKeys(in)
	if err != nil {
		return "", fmt.Errorf("%s: read the keyboard: %w", dir, err)
	}
	defer keys.End()
	t.Keys = keys
	t.More = func(within time.Duration) bool { return tui.HasInput(in, within) }
	t.Suspend = func() {
		fmt.Fprint(out, tui.RestoreSequence)
		term.Restore(int(in.Fd()), before)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH, syscall.SIGCONT)
	defer signal.Stop(resized)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-resized:
				if s == syscall.SIGCONT { // a shell had stopped this process and taken its terminal
					term.MakeRaw(int(in.Fd())) // fails while the shell still has it: the signal will come again
					fmt.Fprint(out, tui.EnterSequence)
				}
			}
			select {
			case sizes <- terminal.SizeOf(out, t.Size):
			case <-ctx.Done():
			}
		}
	}()
	said, err := remote.Attach(ctx, dial, dir, t)
	if err != nil || said == remote.Left(dir) { // the lab could not restore the terminal
		fmt.Fprint(out, tui.RestoreSequence)
	}
	return said, err
}
