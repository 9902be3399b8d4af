package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// runAgain ends an attempt that saved itself and is not done.
type runAgain struct{ job string }

// ExitStatus tells a scheduler to run the job again.
func (a runAgain) ExitStatus() int { return cli.StatusAgain }

func (a runAgain) Error() string { return a.job + ": saved, not done: run me again" }

// elsewhere ends an attempt at a job that another process works at.
type elsewhere struct{ job string }

// ExitStatus tells a scheduler that another process has the job.
func (e elsewhere) ExitStatus() int { return cli.StatusElsewhere }

func (e elsewhere) Error() string { return e.job + ": " + sweep.ErrElsewhere.Error() }

func sweepJobCommand(root func() *cobra.Command) *cobra.Command {
	var threads int
	var disk, device string
	var untilEOF, requeue bool
	c := &cobra.Command{
		Use:   "job DIR INDEX",
		Short: "make an attempt at one job of a sweep",
		Long: `Trains one job of the sweep in DIR, or goes on with it where it was saved last. What
it says goes to attempts/N/log in the job's folder. Status 0: done, result.json is
there; 85: it was told to end and has saved itself, run me again; 75: another process
works at it; 130: stopped by hand; else failed.`,
		Example: `  exec pgrlab sweep job sweeps/a "$SLURM_ARRAY_TASK_ID"`,
		Args:    cli.ExactArgs(2, "the folder of a sweep and an index"),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := sweep.Open(args[0])
			if err != nil {
				return cli.AsUsage(err)
			}
			index, err := strconv.Atoi(args[1])
			if err != nil {
				return cli.Usagef("sweep job: %q is no index", args[1])
			}
			j, err := g.Job(index)
			if err != nil {
				return cli.AsUsage(err)
			}
			how := []string{"--threads", strconv.Itoa(threads)}
			if disk != "" {
				how = append(how, "--disk", disk)
			}
			if device != "" {
				how = append(how, "--device", device)
			}
			ctx, cancel := context.WithCancelCause(c.Context())
			defer cancel(nil)
			if untilEOF {
				go func() {
					io.Copy(io.Discard, c.InOrStdin())
					cancel(cli.Signalled{Signal: syscall.SIGTERM}) // the process that started this is gone
				}()
			}
			try := func(ctx context.Context) error { return attempt(ctx, root(), g, j, how) }
			if requeue {
				return attemptAndRequeue(ctx, g, j, try)
			}
			return try(ctx)
		},
	}
	cli.CountIn(c.Flags(), &threads, "threads", 1, 1, cli.MaxThreads, "`N` threads; the results stay the same")
	c.Flags().StringVar(&disk, "disk", "", "`SIZE` most that the run's checkpoints may take, as 5GiB")
	c.Flags().StringVar(&device, "device", "", cli.DeviceUsage)
	c.Flags().BoolVar(&requeue, "requeue", false, "as an element of a job array of Slurm: on SIGUSR2 save, and queue again")
	c.Flags().BoolVar(&untilEOF, "until-eof", false, "save and end at the end of standard input")
	return c
}

// attempt trains a job, or goes on with it.
func attempt(ctx context.Context, root *cobra.Command, g *sweep.Grid, j sweep.Job, how []string) (err error) {
	if _, done := g.Result(j); done {
		return nil
	}
	a, err := g.Begin(j)
	if errors.Is(err, sweep.ErrElsewhere) {
		return elsewhere{j.Name()}
	}
	if err != nil {
		return err
	}
	withdrawn := false
	defer func() {
		if withdrawn {
			err = errors.Join(err, a.Withdraw())
			return
		}
		ended := "done"
		if err != nil {
			ended = cli.Line(err)
		}
		err = errors.Join(err, a.End(ended))
	}()
	log, err := a.Log()
	if err != nil {
		return err
	}
	defer log.Close()
	dir := g.Run(j)
	args := append([]string{"train", "--resume", dir}, how...)
	if !run.Holds(dir) {
		os.Remove(filepath.Join(dir, run.ConfigName)) // of an attempt that was killed before there was a run
		args = append([]string{"train", "--preset", g.Config(j), "--out", dir}, how...)
	}
	root.SetArgs(args)
	root.SetOut(log)
	root.SetErr(log)
	err = root.ExecuteContext(ctx)
	var s cli.Signalled
	switch {
	case run.IsInUse(err): // where the file system knows no locks, only this tells
		withdrawn = true
		return elsewhere{j.Name()}
	case errors.As(err, &s):
		return runAgain{j.Name()}
	case err != nil:
		fmt.Fprintln(log, cli.Line(err))
		return fmt.Errorf("%s: %w", j.Name(), err)
	case !rundir.Complete(dir, j.Steps):
		return cli.Signalled{Signal: syscall.SIGINT} // by hand, as with pgrlab stop
	}
	return a.Done()
}
