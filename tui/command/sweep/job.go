package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/rundir"
)

// runAgain is the end of an attempt that saved itself and is not done.
type runAgain struct{ job string }

// ExitStatus asks a scheduler to run the job again.
func (a runAgain) ExitStatus() int { return cli.StatusAgain }

func (a runAgain) Error() string { return a.job + ": saved, not done: run me again" }

// elsewhere is the end of an attempt at a job that another process works on.
type elsewhere struct{ job string }

// ExitStatus says that another process has the job.
func (e elsewhere) ExitStatus() int { return cli.StatusElsewhere }

func (e elsewhere) Error() string { return e.job + ": " + sweep.ErrElsewhere.Error() }

func sweepJobCommand(root func() *cobra.Command) *cobra.Command {
	var f jobFlags
	c := &cobra.Command{
		Use:   "job DIR INDEX…",
		Short: "make an attempt at one job of a sweep, or at several side by side",
		Long: `Trains one job of the sweep in DIR, or continues it from where it was saved last. Its
output goes to attempts/N/log in the job's folder. Status 0: done, result.json is there;
85: it was asked to end and has saved itself, to be run again; 75: another process works
on it; 130: stopped by hand; any other: failed.

With several indexes each job is trained in a process of its own, all side by side; one
that fails does not end the others.`,
		Example: `  exec pgrlab sweep job sweeps/a "$SLURM_ARRAY_TASK_ID"`,
		Args:    cli.RangeArgs(2, 1+maxRunsPerJob, "the folder of a sweep and an index, or several"),
		RunE: func(c *cobra.Command, args []string) error {
			g, jobs, err := openJobs(args)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancelCause(c.Context())
			defer cancel(nil)
			if f.untilEOF {
				go func() {
					io.Copy(io.Discard, c.InOrStdin())
					cancel(cli.Signalled{Signal: syscall.SIGTERM}) // the process that started this one has ended
				}()
			}
			id := ""
			if f.requeue {
				if id, err = element(); err != nil {
					return err
				}
			}
			try := func(ctx context.Context) error { return attempt(ctx, root(), g, jobs[0], f.words()) }
			if len(jobs) > 1 {
				try = func(ctx context.Context) error { return f.several(ctx, args[0], id, jobs, c.ErrOrStderr()) }
			}
			if f.requeue {
				return attemptAndRequeue(ctx, g, id, jobs, try)
			}
			return try(ctx)
		},
	}
	cli.CountIn(c.Flags(), &f.threads, "threads", 1, 1, cli.MaxThreads, "`N` threads of each run; the results stay the same")
	c.Flags().StringVar(&f.disk, "disk", "", "`SIZE` most disk space for the checkpoints of each run, such as 5GiB")
	c.Flags().StringVar(&f.device, "device", "", cli.DeviceUsage)
	c.Flags().BoolVar(&f.requeue, "requeue", false, "as an element of a Slurm job array: on SIGUSR2, save and queue again")
	c.Flags().BoolVar(&f.untilEOF, "until-eof", false, "save and end at the end of standard input")
	return c
}

// jobFlags say how to make attempts.
type jobFlags struct {
	threads           int
	disk, device      string
	untilEOF, requeue bool
}

// words are the flags for training.
func (f *jobFlags) words() []string {
	all := []string{"--threads", strconv.Itoa(f.threads)}
	if f.disk != "" {
		all = append(all, "--disk", f.disk)
	}
	if f.device != "" {
		all = append(all, "--device", f.device)
	}
	return all
}

// openJobs finds the jobs of a sweep that a folder and indexes name.
func openJobs(args []string) (g *sweep.Grid, jobs []sweep.Job, err error) {
	if g, err = sweep.Open(args[0]); err != nil {
		return nil, nil, cli.AsUsage(err)
	}
	for _, text := range args[1:] {
		index, err := strconv.Atoi(text)
		if err != nil {
			return nil, nil, cli.Usagef("sweep job: %q is no index", text)
		}
		j, err := g.Job(index)
		if err != nil {
			return nil, nil, cli.AsUsage(err)
		}
		if slices.Contains(jobs, j) {
			return nil, nil, cli.Usagef("sweep job: %d twice", index)
		}
		jobs = append(jobs, j)
	}
	return g, jobs, nil
}

// several makes attempts at jobs side by side, until each is done or has failed. It is a worker of
// the sweep, so that others see which jobs failed and can have them tried again.
func (f *jobFlags) several(ctx context.Context, dir, element string, jobs []sweep.Job, w io.Writer) error {
	g, err := sweep.Open(dir) // its own copy: the other jobs are left out
	if err != nil {
		return err
	}
	g.NeedOnly(func(j sweep.Job) bool { return slices.Contains(jobs, j) })
	s := sweepFlags{out: dir, jobs: len(jobs), threads: f.threads, disk: f.disk, element: element}
	if element != "" {
		s.worker = "slurm-" + element
	}
	if f.device != "" {
		s.devices = []string{f.device}
	}
	err = s.run(ctx, g, w, func(func(string)) {})
	var signalled cli.Signalled
	if errors.As(err, &signalled) {
		return runAgain{fmt.Sprintf("%d jobs", len(jobs))}
	}
	return err
}

// isElsewhere says whether an attempt could not begin because another process works at the job. If
// the file system has no locks, only this reveals it: the other one holds the run folder, or has
// begun the run since this one found none.
func isElsewhere(err error, dir string) bool {
	return run.IsInUse(err) || errors.Is(err, run.ErrHolds) && rundir.Exists(filepath.Join(dir, run.ConfigName))
}

// ending describes how an attempt at a job ended.
func ending(g *sweep.Grid, j sweep.Job, err error) sweep.Ending {
	if err == nil {
		return sweep.Ending{How: "done"}
	}
	e := sweep.Ending{How: strings.TrimPrefix(cli.Line(err), j.Name()+": "), Status: cli.ExitStatus(err)}
	if r, unread := results.LoadRun(g.Run(j)); unread == nil && r.Failed != "" {
		e.How, e.Step, e.Diverged = r.Failed, r.Step, r.Diverged
	}
	return e
}

// saveWhenAsked has the training of this process write a checkpoint when sweep poke asks for it.
func saveWhenAsked(g *sweep.Grid) (stop func()) {
	early := make(chan os.Signal, 1) // before training handles SIGUSR1, or after, it would end the process
	signal.Notify(early, syscall.SIGUSR1)
	end := g.WhenAskedToSave(func() { syscall.Kill(os.Getpid(), syscall.SIGUSR1) })
	return func() { end(); signal.Stop(early) }
}

// attempt trains a job, or resumes it.
func attempt(ctx context.Context, root *cobra.Command, g *sweep.Grid, j sweep.Job, how []string) (err error) {
	if _, done := g.Result(j); done {
		return nil
	}
	defer saveWhenAsked(g)() // from before others see the attempt
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
		err = errors.Join(err, a.End(ending(g, j, err)))
	}()
	log, err := a.Log()
	if err != nil {
		return err
	}
	defer log.Close()
	dir, err := a.Run()
	args := append([]string{"train", "--resume", dir}, how...)
	if err == nil && !run.Holds(dir) {
		err = run.RemoveUnbegun(dir)
		args = append([]string{"train", "--preset", a.Config(), "--out", dir}, how...)
	}
	root.SetArgs(args)
	root.SetOut(log)
	root.SetErr(log)
	if err == nil {
		err = root.ExecuteContext(ctx)
		dir, _ = a.Run() // the sweep's folder may have another name by now
	}
	var s cli.Signalled
	switch {
	case isElsewhere(err, dir):
		withdrawn = true
		return elsewhere{j.Name()}
	case errors.Is(err, run.ErrLost):
		return elsewhere{j.Name()}
	case errors.As(err, &s):
		return runAgain{j.Name()}
	case err != nil:
		fmt.Fprintln(log, cli.Line(err))
		return fmt.Errorf("%s: %w", j.Name(), err)
	case !rundir.Complete(dir, j.Steps):
		return cli.Signalled{Signal: syscall.SIGINT} // stopped by hand, as with pgrlab stop
	}
	return a.Done()
}
