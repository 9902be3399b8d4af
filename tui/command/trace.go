package command

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/tui/command/cli"
)

// controlNames are the sequences of actions that a trace can be made with.
var controlNames = []string{"triangle", "zero", "random"}

func traceCommand(d cli.Deps) *cobra.Command {
	r, name := cli.TraceRequest{Steps: 200, Controls: "triangle"}, ""
	c := &cobra.Command{
		Use:   "trace --task T",
		Short: "print observations and rewards of a task under given controls, as JSON lines",
		Long: `Steps a task under given controls and prints a JSON object per line: the start of
every episode with its physical state, then each control step with action,
observation and reward. The same task, seed and controls give the same lines on
every machine.

Controls: triangle (exact waves, shifted from actuator to actuator), zero, random
(uniform in [-1,1)).`,
		Example: `  pgrlab trace --task cheetah-run --steps 200 --controls zero
  pgrlab trace --task walker-walk --controls random --seed 3 | tail -1`,
		Args: d.BareNames,
		RunE: func(c *cobra.Command, _ []string) error { return trace(c.Context(), c.OutOrStdout(), d, name, r) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&name, "task", "", "`T` task (pgrlab list tasks), or a task file")
	cli.CountIn(f, &r.Steps, "steps", r.Steps, 0, cli.MaxSteps, "`N` control steps")
	f.StringVar(&r.Controls, "controls", r.Controls, "`triangle|zero|random` controls")
	f.Uint64Var(&r.Seed, "seed", 0, "`N` seed of the start states and of random controls (default 0)")
	return c
}

func trace(ctx context.Context, w io.Writer, d cli.Deps, name string, r cli.TraceRequest) error {
	if name == "" {
		return cli.Usagef("trace: no task: say which with --task (pgrlab list tasks)")
	}
	task, err := d.Task(name)
	if err != nil {
		return err
	}
	if !slices.Contains(controlNames, r.Controls) {
		return cli.Usagef("trace: unknown controls %q: want %s", r.Controls, strings.Join(controlNames, ", "))
	}
	return d.Trace(ctx, w, task, r)
}
