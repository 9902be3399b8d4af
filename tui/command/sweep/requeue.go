package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/slurm"
	"pgrlab/tui/command/cli"
)

// errStandstill ends an attempt that would be repeated for ever.
var errStandstill = errors.New("saved no progress within its time: not queued again; give the jobs more time (--sbatch --time=…)")

// warned ends an attempt that Slurm warns: its time is nearly over, or another job needs the node.
// Training itself handles SIGTERM, which follows, or comes alone with scancel.
func warned(parent context.Context) (ctx context.Context, was func() bool, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	received := make(chan struct{})
	go func() {
		select {
		case <-signals:
			close(received)
			cancel(cli.Signalled{Signal: syscall.SIGTERM})
		case <-ctx.Done():
		}
	}()
	was = func() bool {
		select {
		case <-received:
			return true
		default:
			return false
		}
	}
	return ctx, was, func() { signal.Stop(signals); cancel(nil) }
}

// element is the element of a job array that this process is, as ARRAY_ELEMENT.
func element() (string, error) {
	id := os.Getenv("SLURM_ARRAY_JOB_ID") + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	if id == "_" {
		return "", cli.Usagef("sweep job --requeue: this is no element of a job array of Slurm")
	}
	return id, nil
}

// attemptAndRequeue makes an attempt at jobs as an element of a job array. An attempt that was
// warned requeues itself if a job has advanced.
func attemptAndRequeue(parent context.Context, g *sweep.Grid, element string, jobs []sweep.Job, attempt func(context.Context) error) error {
	before := progress(g, jobs)
	ctx, was, stop := warned(parent)
	defer stop()
	err := attempt(ctx)
	var again runAgain
	if !was() || !errors.As(err, &again) {
		return err
	}
	if slices.Equal(progress(g, jobs), before) {
		return fmt.Errorf("%s: %w", again.job, errStandstill)
	}
	short, cancel := context.WithTimeout(context.WithoutCancel(parent), 30*time.Second)
	defer cancel()
	return errors.Join(err, slurm.Requeue(short, slurm.Run, element))
}

// progress is how far each of the jobs has come on the disk.
func progress(g *sweep.Grid, jobs []sweep.Job) (all []string) {
	for _, j := range jobs {
		if _, done := g.Result(j); done {
			all = append(all, "done")
			continue
		}
		all = append(all, saved(g.Run(j)))
	}
	return all
}

// saved is the position of a run's latest checkpoint; empty before the first. The env step alone
// would not do, since a single fit may take longer than an attempt.
func saved(dir string) string {
	all, err := run.Checkpoints(dir)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0].Position
}
