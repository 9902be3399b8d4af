package sweep

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"pgrlab/core/report"
	"pgrlab/core/shell"
	"pgrlab/core/sweep"
	"pgrlab/presets"
	"pgrlab/tui/command/results"
)

// sweepResults writes what a sweep has found so far, and which commands show more. A sweep without
// any evaluation yet has no table. For the jobs that were left out it uses the results that stand
// in file.
func sweepResults(w io.Writer, g *sweep.Grid, out string, file *sweepResultsFile) error {
	runs := slices.Clone(file.standing)
	for _, j := range g.Jobs {
		r, err := results.LoadRun(g.Run(j))
		if err != nil {
			continue // not begun, or unreadable: the report says so
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
	_, err = fmt.Fprintf(w, "figures, the paper's numbers and more: pgrlab report %s --figure curves --out %s\n", reported(runs, out, file), shell.Word(filepath.Join(out, "report")))
	return err
}

// reported are the arguments with which a report shows the runs. The file has what was left out and
// the results of the other runs, but none of a run that was changed by hand.
func reported(runs []*report.Run, out string, file *sweepResultsFile) string {
	switch {
	case len(file.standing) == 0:
		return shell.Word(out)
	case slices.ContainsFunc(runs, func(r *report.Run) bool { return r.IsResult() != nil }):
		return shell.Word(out) + " " + shell.Word(file.path)
	}
	return shell.Word(file.path)
}
