package attach

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/printable"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
)

// psPatience is how long a lab may take to report its status.
const psPatience = 2 * time.Second

// PsCommand is ps.
func PsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:        "ps",
		SuggestFor: []string{"runs", "ls", "status", "jobs"},
		Short:      "list your runs in progress on this machine",
		Long: `Lists your runs in progress on this machine, with or without a screen, oldest first:
where they are, the return of their last evaluation, the memory of their process. It
asks nothing of the training. A narrow terminal shows fewer columns; --json has all.`,
		Example: `  pgrlab ps
  pgrlab ps --json | jq -r '.[] | select(.state == "paused").dir'`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := context.WithTimeout(c.Context(), psPatience)
			defer stop()
			all := remote.List(ctx)
			if asJSON {
				return psJSON(c.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.ErrOrStderr(), "no lab of yours runs on this machine")
				return nil
			}
			return psTable(c.OutOrStdout(), all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

// psJSON writes labs as a JSON array.
func psJSON(w io.Writer, all []remote.Status) error {
	if all == nil {
		all = []remote.Status{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// psTable writes one line for each lab, with as many columns as a terminal has room for.
func psTable(w io.Writer, all []remote.Status) error {
	heading := []string{"PID", "STATE", "STEP", "STEPS/S", "ETA", "RETURN", "DEVICE", "MEMORY", "SCREENS", "RUN"}
	var rows [][]string
	for _, s := range all {
		if !s.Answered {
			where := cmp.Or(printable.Line(rundir.Near(s.Dir)), "of another version, which does not say where")
			if s.State == remote.Stopped {
				where += " (" + remote.HowToContinue(s.PID) + ")"
			}
			rows = append(rows, []string{strconv.Itoa(s.PID), s.State, "-", "-", "-", "-", "-", "-", "-", where})
			continue
		}
		returned, eta, speed, memory := "-", "-", "-", "-"
		if s.Return != nil {
			returned = fmt.Sprintf("%.1f", *s.Return)
		}
		if s.ETAS > 0 {
			eta = terminal.Clock(time.Duration(s.ETAS * float64(time.Second)))
		}
		if s.StepsPerS > 0 {
			speed = fmt.Sprintf("%.1f", s.StepsPerS)
		}
		if s.Memory > 0 {
			memory = cli.Size(s.Memory)
		}
		rows = append(rows, []string{strconv.Itoa(s.PID), s.State, fmt.Sprintf("%d/%d %d%%", s.Step, s.Steps, 100*s.Step/max(1, s.Steps)),
			speed, eta, returned, s.Device, memory, strconv.Itoa(s.Screens), printable.Line(rundir.Near(s.Dir))})
	}
	return cli.WriteFitting(w, heading, rows, "SCREENS", "MEMORY", "DEVICE", "STEPS/S", "RETURN", "ETA")
}
