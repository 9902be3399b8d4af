package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// StopCommand is stop.
func StopCommand() *cobra.Command {
	return controlCommand("stop", "save a run and end it",
		`Saves one of your runs in another process on this machine, ends it, and waits until it
has released its folder: train --resume can continue it at once.`)
}

// PauseCommand is pause.
func PauseCommand() *cobra.Command {
	return controlCommand("pause", "pause a run after its current slice",
		`Pauses one of your runs in another process on this machine, and waits until it stands
still. pgrlab resume, or space on its screen, continues it.`)
}

// ParkCommand is park.
func ParkCommand() *cobra.Command {
	return controlCommand("park", "save a run, pause it and release its GPU",
		`Saves one of your runs in another process on this machine, pauses it and releases all
that it holds of a GPU, for others to use; it waits until that is free. pgrlab resume,
or P on its screen, takes the GPU again and continues the run. A run on the CPU is only
saved and paused.`)
}

// ResumeCommand is resume.
func ResumeCommand() *cobra.Command {
	return controlCommand("resume", "continue a paused run",
		`Continues one of your paused runs. pgrlab train --resume DIR continues a run that has
ended.`)
}

// CheckpointCommand is checkpoint.
func CheckpointCommand() *cobra.Command {
	return controlCommand("checkpoint", "save a run in progress",
		`Saves one of your runs in another process on this machine, and waits until the
checkpoint is on the disk.`)
}

// controlCommand asks a running lab to do what a key does, and waits for the answer.
func controlCommand(verb, short, long string) *cobra.Command {
	timeout := time.Minute
	c := &cobra.Command{
		Use:   verb + " [RUN]",
		Short: short,
		Long: long + `

` + whichRun,
		Example: "  pgrlab " + verb + "\n  pgrlab " + verb + " 4242\n  pgrlab " + verb + " runs/a",
		Args:    cli.RangeArgs(0, 1, "at most one run"),
		RunE: func(c *cobra.Command, args []string) error {
			if timeout <= 0 {
				return cli.Usagef("%s: --timeout %v: want more than 0s", verb, timeout)
			}
			dir, dial, err := listening(c.Context(), timeout, func() (string, remote.Dial, error) { return runningLab(c.Context(), c, args) })
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(c.Context(), timeout) // limits the answer, not the choice
			defer stop()
			said, err := remote.AskBy(ctx, dial, dir, verb, fmt.Sprintf("pgrlab %s (pid %d)", verb, os.Getpid()))
			if err != nil {
				return fmt.Errorf("%s %w", verb, err)
			}
			fmt.Fprintln(c.ErrOrStderr(), said)
			return nil
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", timeout, "`TIME` how long to wait for the answer")
	return c
}

// lookAgain is how often a lab is looked for that is starting or ending.
const lookAgain = 100 * time.Millisecond

// listening calls find until it finds the lab, or something other than a lab that is starting or ending,
// as one is while a run moves to another process.
func listening(ctx context.Context, atMost time.Duration, find func() (string, remote.Dial, error)) (string, remote.Dial, error) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	for {
		dir, dial, err := find()
		if !errors.As(err, new(remote.Between)) {
			return dir, dial, err
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return "", nil, err
		case <-ctx.Done():
			return "", nil, context.Cause(ctx)
		}
	}
}
