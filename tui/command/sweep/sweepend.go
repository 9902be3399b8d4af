package sweep

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"pgrlab/core/report"
	"pgrlab/core/sweep"
	"pgrlab/presets"
	"pgrlab/tui/command/results"
)

// sweepResults writes what a sweep has found so far, and what says more. A sweep in
// which nothing was evaluated yet has no table. Results of jobs that were left out are
// those that stand elsewhere.
func sweepResults(w io.Writer, g *sweep.Grid, out string, standing []*report.Run) error {
	runs := slices.Clone(standing)
	for _, j := range g.Jobs {
		r, err := results.LoadRun(g.Run(j))
		if err != nil {
			continue // not begun, or not to be read: the report says so
		}
		runs = append(runs, r)
	}
	var o report.Options
	for _, m := range presets.Methods() {
		o.Methods = append(o.Methods, m.Name)
	}
	all, err := report.New(runs, o)
	if err != nil {
		return nil
	}
	if err := all.Summary(w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "figures, the paper's numbers and more: pgrlab report %s --figure curves --out %s\n", out, filepath.Join(out, "report"))
	return err
}
