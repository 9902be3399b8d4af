package analyse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/offline"
	"pgrlab/core/printable"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/whatif"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
)

// whatIfFlags are the flags of analyse --what-if.
type whatIfFlags struct {
	whatif.Plan
	samples  int
	untilEOF bool
}

// untilEOF is the flag for a screen that shows a what-if: the table is of no use when the screen
// has gone, however it ended.
const untilEOF = "until-eof"

// whatIfOnly are the flags that apply only with --what-if.
var whatIfOnly = []string{"relevance", "top-fraction", "updates", "episodes", "seeds", "samples", untilEOF}

func (w *whatIfFlags) bind(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "what-if", false, "train the agent from the checkpoint with different rows, and compare")
	f.StringSliceVar(&w.Relevance, "relevance", nil, "`F[,F…]` with --what-if: relevance functions to prioritize rows by (default the run's)")
	f.Float64SliceVar(&w.TopFraction, "top-fraction", nil, "`k[,k…]` with --what-if: shares of real rows that serve as prompts (default the run's)")
	cli.CountVar(f, &w.Updates, "updates", 2000, 1, "`N` with --what-if: critic updates from the checkpoint")
	cli.CountVar(f, &w.Episodes, "episodes", 10, 1, "`N` with --what-if: held-out episodes, and episodes of each evaluation")
	cli.CountVar(f, &w.Repeats, "seeds", 3, 1, "`N` with --what-if: repeats, each with its own random numbers")
	cli.CountVar(f, &w.samples, "samples", 10_000, 1, "`N` with --what-if: synthetic transitions of each kind")
	f.BoolVar(&w.untilEOF, untilEOF, false, "with --what-if, for a process that waits for it: end when stdin ends, and print progress as JSON")
	_ = f.MarkHidden(untilEOF) // the flag exists
}

// flags refuses combinations that make no sense.
func (w *whatIfFlags) flags(f *pflag.FlagSet, asked bool) error {
	if !asked {
		for _, name := range whatIfOnly {
			if f.Changed(name) {
				return cli.Usagef("analyse: --%s is about rows to train with: add --what-if", name)
			}
		}
		return nil
	}
	for _, name := range []string{"relevance-from", "journal", "rows", "points", "tsne", "out", "timeout", "refit", "held-out"} {
		if f.Changed(name) {
			return cli.Usagef("analyse: --%s does not go with --what-if: leave one of them out", name)
		}
	}
	for _, list := range []struct {
		name, knob string
		values     *[]float64
	}{{"guidance", "guidance", &w.Guidance}, {"top-fraction", "top_fraction", &w.TopFraction}} {
		if !f.Changed(list.name) {
			continue
		}
		var err error
		if *list.values, err = f.GetFloat64Slice(list.name); err != nil {
			return err
		}
		if err := eachOnce(list.knob, *list.values); err != nil {
			return cli.Usagef("analyse: --%s: %w", list.name, err)
		}
	}
	for i, name := range w.Relevance {
		if !slices.Contains(RelevanceNames(), name) || slices.Contains(w.Relevance[:i], name) {
			return cli.Usagef("analyse: --relevance %s: want some of %s, each once", name, strings.Join(RelevanceNames(), ", "))
		}
	}
	w.Sampling.Samples = w.samples
	return nil
}

// eachOnce checks the values of a knob that are to be compared.
func eachOnce(name string, values []float64) error {
	k, err := knob.Find(name)
	if err != nil {
		return err
	}
	for i, v := range values {
		if err := k.Check(knob.Number(v)); err != nil {
			return err
		}
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%g stands there twice", v)
		}
	}
	return nil
}

// RelevanceNames are the relevance functions that can prioritize the rows of a learner of
// transitions, the kind of learner that what-ifs are for.
func RelevanceNames() []string {
	k, err := knob.Find("relevance")
	if err != nil {
		panic(err) // the table of knobs has it
	}
	c, err := presets.Resolve(presets.Choice{Method: config.MethodSynthER})
	if err != nil {
		panic(err) // embedded
	}
	return slices.DeleteFunc(c.Offered(k).Choices, func(name string) bool { return name == whatif.None })
}

// whatIfAll makes the tables of the runs, one after another.
func (r *analyseRequest) whatIfAll(ctx context.Context, d cli.Deps, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if r.whatIf.untilEOF {
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, stdin) // whatever ends it
			end(errAlone)
		}()
	}
	for _, arg := range args {
		saved, err := r.saved(arg, "analyse")
		if err != nil {
			return err
		}
		if err := r.whatIfOne(ctx, d, saved, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// errAlone is the reason why a table with --until-eof is not finished.
var errAlone = errors.New("the process that waited for it has gone")

func (r *analyseRequest) whatIfOne(ctx context.Context, d cli.Deps, saved offline.Run, stdout, stderr io.Writer) error {
	task, err := d.TaskIn(saved.Dir, saved.Config.Task, saved.Config.Environment)
	if err != nil {
		return err
	}
	device, err := d.Device(cli.DeviceRequest{Threads: r.threads})
	if err != nil {
		return fmt.Errorf("start device: %w", err)
	}
	defer device.Close()
	p := &whatIfProgress{Progress: terminal.NewProgress(stderr), begun: time.Now()}
	show := p.show
	if r.whatIf.untilEOF {
		show = (&progressLines{to: json.NewEncoder(stderr)}).show
	}
	asked := offline.WhatIfRequest{Plan: r.whatIf.Plan, Progress: func(at whatif.Progress) error { return show(at, time.Now()) }}
	if len(r.refit.set) > 0 {
		other, err := r.refit.of(saved.Config)
		if err != nil {
			return err
		}
		asked.Other = &other
	}
	found, step, err := offline.WhatIf(ctx, saved, task, device, asked)
	p.Clear()
	if err != nil {
		return err
	}
	if r.json || !terminal.IsTerminal(stdout) {
		return json.NewEncoder(stdout).Encode(struct {
			Dir    string `json:"dir"`
			Task   string `json:"task"`
			Method string `json:"method"`
			Step   int    `json:"step"`
			Device string `json:"device"`
			*whatif.Table
		}{saved.Dir, saved.Config.Task, saved.Config.Method, step, device.Name(), found})
	}
	fmt.Fprintf(stdout, "%s on %s at step %s, trained on for %s updates, %d repeats\n\n",
		printable.Line(saved.Config.Method), printable.Line(saved.Config.Task), report.Count(step), report.Count(found.Plan.Updates), found.Plan.Repeats)
	return writeWhatIf(stdout, found)
}

// whatIfProgress shows the progress of a table.
type whatIfProgress struct {
	*terminal.Progress
	begun, shown time.Time
}

func (p *whatIfProgress) show(at whatif.Progress, now time.Time) error {
	if now.Sub(p.shown) < p.Every() {
		return nil
	}
	p.shown = now
	text := fmt.Sprintf("%d %%  %s", 100*at.Done/max(1, at.Total), at.Doing)
	if spent := now.Sub(p.begun); at.Done > 0 && spent > 2*time.Second {
		left := float64(spent) * float64(at.Total-at.Done) / float64(at.Done)
		text += "  eta " + terminal.Clock(time.Duration(left))
	}
	p.Rewrite(text)
	return nil
}

// progressLines writes the progress of a table for another program, one JSON object a line.
type progressLines struct {
	to    *json.Encoder
	shown time.Time
}

func (p *progressLines) show(at whatif.Progress, now time.Time) error {
	const every = 250 * time.Millisecond
	if now.Sub(p.shown) < every {
		return nil
	}
	p.shown = now
	return p.to.Encode(at)
}

// writeWhatIf writes the table: a line for each kind of rows and who made them.
func writeWhatIf(w io.Writer, t *whatif.Table) error {
	out := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "rows asked for\tmade by\tvalue error\tbias\tscatter\tTD error\treturn")
	writeArm(out, "as saved", "", &t.Saved)
	last := ""
	for i := range t.Arms {
		a := &t.Arms[i]
		name := a.Rows.String()
		if name == last {
			name = ""
		} else {
			last = name
		}
		writeArm(out, name, a.MadeBy, a)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, `
Errors are of the critics on %s held-out real transitions, where a constant
value has value error %.3g. Bias is what values are too high on average, scatter
the deviation from that. ± is the standard deviation over repeats. Unprioritized
rows are SynthER's. Rows made by the simulator have the same s and a as the
generator's, with its s', r and end. A verdict takes a 90 %% interval without 0
of scatter or return. Where there is no difference one in five is chance,
and of six at least one in two tables of three. Repeats share a generator's fit.

`, report.Count(t.HeldOut), float64(t.Spread))
	for _, a := range t.Arms {
		if a.Diverged > 0 {
			fmt.Fprintf(w, "%s: the updates of %d of %d repeats diverged;\n  the numbers are of the others.\n", a.String(), a.Diverged, len(a.Return))
		}
		if len(a.Change) > 0 {
			writeQuality(w, &a)
		}
		if a.MadeBy == whatif.MadeByGenerator && a.Left > 0 {
			fmt.Fprintf(w, "%s: the simulator did not take %s of %s rows;\n  they are in neither line.\n", a.Rows, report.Count(a.Left), report.Count(t.Plan.Repeats*t.Plan.Sampling.Samples))
		}
	}
	for _, f := range t.Findings {
		writeFinding(w, f)
	}
	return nil
}

// writeQuality compares the rows of a generator with the simulator's.
func writeQuality(w io.Writer, a *whatif.Arm) {
	fmt.Fprintf(w, "%s: error of s' %s of the variance of real s' - s,\n  of r %s of its own; the best constants have %s and %s on these rows",
		a.Rows, mean(a.Change), mean(a.Reward), mean(a.ConstantChange), mean(a.ConstantReward))
	if len(a.Relevant) > 0 {
		share, _ := whatif.Spread(a.Relevant)
		fmt.Fprintf(w, ";\n  %.0f %% of them are in the upper quarter of F", 100*share)
	}
	fmt.Fprintln(w)
}

func writeArm(w io.Writer, name, by string, a *whatif.Arm) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, by, meanOf(a.ValueError), mean(a.Bias),
		mean(a.Scatter), mean(a.TDError), meanOf(a.Return))
}

// mean is the mean of the repeats.
func mean(v []run.Float) string {
	mean, _ := whatif.Spread(v)
	return digits(mean, 3)
}

// meanOf is the mean of the repeats with their standard deviation.
func meanOf(v []run.Float) string {
	if len(v) < 2 {
		return mean(v)
	}
	_, deviation := whatif.Spread(v)
	return mean(v) + " ±" + digits(deviation, 2)
}

// digits writes a number with n significant digits, or with all digits before its point.
func digits(v float64, n int) string {
	if math.Abs(v) >= math.Pow10(n) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.*g", n, v)
}

// writeFinding writes a finding in words.
func writeFinding(w io.Writer, f whatif.Finding) {
	fmt.Fprintf(w, "%s: %s\n", f.Question, f.Verdict)
	if f.Why != "" {
		fmt.Fprintf(w, "  %s\n", printable.Line(f.Why))
	}
	if f.Value != nil {
		fmt.Fprintf(w, "  %s,\n  against %s:\n  scatter by %s\n  return by %s\n  value error by %s\n",
			f.Cells[0], f.Cells[1], changeOf(f.Scatter), changeOf(f.Return), changeOf(f.Value))
	}
}

// changeOf is a difference with its 90 % interval.
func changeOf(d *whatif.Difference) string {
	by, half := float64(d.Mean), float64(d.Half)
	if math.IsInf(half, 0) {
		return digits(by, 3)
	}
	return fmt.Sprintf("%s (90 %% interval %s to %s)", digits(by, 3), digits(by-half, 3), digits(by+half, 3))
}
