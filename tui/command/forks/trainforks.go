package forks

import (
	"context"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
)

// TrainName is the command that trains forks whose parent's process has ended.
const TrainName = "train-forks"

// TrainCommand trains run folders, several side by side: it is the process to which a run leaves
// its waiting forks.
func TrainCommand() *cobra.Command {
	var after []int
	beside := 2
	c := &cobra.Command{
		Use:               TrainName + " DIR…",
		Short:             "train forks, some at a time",
		Hidden:            true,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              cli.RangeArgs(1, 1<<20, "run folders"),
		RunE: func(c *cobra.Command, dirs []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			signal.Ignore(syscall.SIGHUP)
			trainInTurn(ctx, dirs, after, beside)
			return nil
		},
	}
	c.Flags().IntVar(&beside, "beside", beside, "number of forks to train at a time")
	c.Flags().IntSliceVar(&after, "after", nil, "processes that count among these")
	for _, name := range []string{"beside", "after"} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // the flag exists
	}
	return c
}

// trainInTurn begins the runs in dirs one after another, so that together with the processes in
// after no more than beside train at the same time, and waits for those that it has begun. When ctx
// ends it begins no others; those that train go on.
func trainInTurn(ctx context.Context, dirs []string, after []int, beside int) {
	turn := make(chan struct{}, max(1, beside))
	var busy sync.WaitGroup
	for _, pid := range after {
		select {
		case turn <- struct{}{}:
			busy.Go(func() {
				awaitProcess(ctx, pid)
				<-turn
			})
		default: // more than may train: the first ones make room
		}
	}
	for _, dir := range dirs {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}
		busy.Go(func() {
			b := Group{}
			b.add(&Child{dir: dir})
			b.working.Wait()
			<-turn
		})
	}
	done := make(chan struct{})
	go func() { busy.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// awaitProcess waits for the end of a process that is not a child of this one.
func awaitProcess(ctx context.Context, pid int) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for lives(pid) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
