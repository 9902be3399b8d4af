package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/report"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/results"
	"pgrlab/tui/command/terminal"
)

// reportRequest holds the flags of report.
type reportRequest struct {
	json      bool
	step      int
	scoreFrom int
	statistic string
	threshold float64
	asked     *float64 // the threshold, if the flag was given
	figures   []string
	out       string
	results   string
}

// Command is report.
func Command(d cli.Deps) *cobra.Command {
	var r reportRequest
	c := &cobra.Command{
		Use:        "report DIR|FILE.csv…",
		SuggestFor: []string{"runs", "compare", "table", "plot", "figures"},
		Short:      "compare runs in tables and figures",
		Long: `Compares runs: the return with its deviation over seeds, the interquartile mean with a
bootstrap interval, the area under the learning curve, the steps to a threshold, and the
probability that one is better than another (Agarwal et al. 2021) and by how much, each
with an interval and the p of a permutation test, beside the results that the paper and
others report. With fewer than five seeds it shows
the single points, and with two to four the difference of their means with Welch's
interval. --statistic mean compares all rows by means, with Student's and Welch's
intervals. A folder stands for the runs in it, a file for the results in it.

--results FILE.csv adds the measurements of the runs that have ended to a file, one row
for each step of each seed. The runs themselves may then be deleted: a report of the
file shows the same numbers, to six digits, and draws the same figures but cadence and
time, for which it does not hold enough.

Runs are compared at the last step at which all runs of a task were evaluated, or at
--step. A run that failed does not move that step: it is a seed without a return, and the
report says why; if its numbers diverged, it counts as worse than all others in
probabilities. With --score-from N each run counts with the mean of its evaluations from
step N on, which varies less than a single evaluation. A run that failed counts too then,
with 0 for each evaluation that it did not reach or that diverged (or with the least
return of the task's runs, if that is below 0), and the report names it; one that only
ended with another member of its cohort has no score. Results files
keep runs that failed. Runs with other settings, and runs whose
knobs were turned by hand, have rows of their own, and so have runs of another length if
rates of the method follow it (ppo, per-td). A seed that occurs twice counts once; where
two versions or devices ran it with other returns, each of them has a row of its own.

On a terminal it prints the returns; the whole report, in Markdown, goes into a pipe
(pgrlab report DIR | less), and with --out into a file.

--figure NAME draws NAME.svg and NAME.png into --out. The figures are:
` + figureHelp(),
		Example: `  pgrlab report runs
  pgrlab report runs/a runs/b --json | jq '.tasks[].rows[]'
  pgrlab report runs --figure curves --figure fig-dormant --out figures
  pgrlab report sweeps/a --results results.csv && pgrlab report results.csv`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("report: needs one run folder or file of results, or more: see pgrlab report --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("threshold") {
				r.asked = &r.threshold
			}
			return r.report(d, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&r.json, "json", false, "print JSON instead of Markdown")
	cli.CountVar(f, &r.step, "step", 0, 1, "`N` step to compare at (default: the last one that all reached)")
	cli.CountVar(f, &r.scoreFrom, "score-from", 0, 1, "`N` score a run by the mean of its evaluations from this step on (default: by the one at --step)")
	f.StringVar(&r.statistic, "statistic", "iqm", "`iqm|mean` compare rows by interquartile means or by means")
	f.Float64Var(&r.threshold, "threshold", 0, "`R` count the steps to this return (default: half of the best mean, or if that is not positive half way to it)")
	f.StringArrayVar(&r.figures, "figure", nil, "`NAME` figure to draw, or a preset fig-… whose figure to draw; repeatable")
	f.StringVar(&r.results, "results", "", "`FILE.csv` add the runs that have ended to this file")
	f.StringVar(&r.out, "out", "", "`DIR` write report.md, report.json and figures into this folder (default: figures into the current one)")
	return c
}

// statistics are the values of --statistic.
var statistics = map[string]report.Statistic{"iqm": report.OfInterquartileMeans, "mean": report.OfMeans}

func (r *reportRequest) report(d cli.Deps, dirs []string, stdout, stderr io.Writer) error {
	if math.IsNaN(r.threshold) || math.IsInf(r.threshold, 0) {
		return cli.Usagef("report: --threshold %g: want a number", r.threshold)
	}
	statistic, known := statistics[r.statistic]
	if !known {
		return cli.Usagef("report: --statistic is %q: want iqm or mean", r.statistic)
	}
	figures, err := r.wanted()
	if err != nil {
		return err
	}
	runs, notes, err := results.LoadRuns(dirs)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if r.results != "" {
		if err := results.KeepResults(r.results, runs, stderr); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	o := report.Options{Step: r.step, ScoreFrom: r.scoreFrom, Statistic: statistic, Threshold: r.asked, Reported: reported(runs), Full: fullMarks(runs)}
	for _, m := range presets.Methods() {
		o.Methods = append(o.Methods, m.Name)
	}
	all, err := report.New(runs, o)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	all.Notes = slices.Concat(notes, all.Notes)
	if len(figures) > 0 || r.out != "" {
		if err := r.draw(all, runs, o, figures, stderr); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	if r.json {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(all)
	}
	if terminal.IsTerminal(stdout) {
		return r.glance(all, stdout)
	}
	return all.Markdown(stdout)
}

// glance is a report for a terminal, whose lines are too short for all the columns of the whole one.
func (r *reportRequest) glance(all *report.Report, w io.Writer) error {
	if err := all.Summary(w); err != nil {
		return err
	}
	whole := "add | less, or --out DIR"
	if r.out != "" {
		whole = filepath.Join(r.out, "report.md")
	}
	_, err := fmt.Fprintln(w, "N seeds; mean ± deviation; interval of the "+string(statistics[r.statistic])+". The whole report: "+whole)
	return err
}

// reported are the results of the paper and of others on the runs' tasks.
func reported(runs []*report.Run) []report.Reported {
	var all []report.Reported
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Task] {
			continue
		}
		seen[r.Task] = true
		type column struct{ method, observation, tv string }
		first := map[column]bool{} // if a method is in several tables, the first one counts
		for _, p := range append(presets.References(r.Task), presets.Independent(r.Task)...) {
			for _, observation := range []string{task.ObservationState, task.ObservationPixels} {
				of := column{p.Method, observation, p.TV}
				if !p.Sees(observation) || !p.Independent && first[of] {
					continue
				}
				first[of] = true
				all = append(all, report.Reported{
					Task: p.Task, Method: p.Method, Mean: p.Mean, Std: p.Std, Steps: p.Steps, Seeds: p.Seeds, Source: p.Source, Independent: p.Independent,
					Pixels: observation == task.ObservationPixels, Frames: p.Frames, TV: p.TV, Note: p.Note, Where: p.Where,
				})
			}
		}
	}
	return all
}

// fullMarks are the upper bounds on the returns of the control suite: 1,000 steps with a reward of
// at most 1. Gym's tasks, the mazes and tasks of files or of other programs have none.
func fullMarks(runs []*report.Run) map[string]float64 {
	full := map[string]float64{}
	for _, r := range runs {
		if !strings.HasSuffix(r.Task, "-v2") && !strings.HasPrefix(r.Task, "maze-") && !strings.Contains(r.Task, ":") {
			full[r.Task] = 1000
		}
	}
	return full
}
