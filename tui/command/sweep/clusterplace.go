package sweep

import (
	"context"
	"fmt"
	"maps"

	"pgrlab/core/shell"
	"pgrlab/core/sweep/slurm"
)

// cancel removes all jobs from the queue.
func (c *cluster) cancel(ctx context.Context) (string, error) {
	if err := c.array.Usable(); err != nil {
		return "", err
	}
	queued, err := c.unfinished(ctx)
	if err == nil {
		err = c.array.Cancel(ctx, queued)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d jobs are cancelled: pgrlab sweep --out %s --on slurm goes on with them", len(queued), shell.Word(c.out)), nil
}

// unfinished are the queued elements of jobs that are not done: some of several jobs in an element
// may be done.
func (c *cluster) unfinished(ctx context.Context) (map[int]slurm.Element, error) {
	queued, err := c.array.Queued(ctx)
	maps.DeleteFunc(queued, func(i int, _ slurm.Element) bool {
		j, err := c.grid.Job(i)
		_, done := c.grid.Result(j)
		return err == nil && done
	})
	return queued, err
}

// givenUp are the jobs that failed in elements with other jobs to do.
func (c *cluster) givenUp(queued map[int]slurm.Element) map[int]bool {
	all := map[int]bool{}
	for _, w := range c.grid.Workers() {
		for _, i := range w.Failed {
			e, is := queued[i]
			if is && e.ID == w.Element && e.State == "RUNNING" && w.Ended == "" {
				all[i] = true
			}
		}
	}
	return all
}

// requeue submits the jobs that are missing and left the queue, in the same way as before, and
// releases those that Slurm holds.
func (c *cluster) requeue(ctx context.Context, say func(string)) error {
	how := c.array.Submissions[len(c.array.Submissions)-1].How
	err := checkWords("slurm.json", how.Script.Flags)
	if err == nil {
		how.Script.Program, how.Script.Dir, err = program(c.grid)
	}
	if err == nil {
		how.Options, err = again("sbatch", c.calls.sbatch, how.Options, slurm.AsksForResources)
	}
	if err == nil {
		err = c.submit(ctx, ctx, how, say)
	}
	if err != nil {
		return err
	}
	if n := len(c.givenUp(c.queued)); n > 0 {
		if err := c.grid.AskAgain(); err != nil {
			return err
		}
		say(fmt.Sprintf("%d jobs that failed beside others are tried again", n))
	}
	held := maps.Clone(c.queued)
	maps.DeleteFunc(held, func(_ int, e slurm.Element) bool { return !e.Held() })
	if err := c.array.Release(ctx, held); err != nil {
		return err
	}
	if len(held) > 0 {
		say(fmt.Sprintf("%d jobs that Slurm held are free to run", len(held)))
	}
	return nil
}
