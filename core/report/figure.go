package report

import (
	"fmt"
	"io"
	"slices"

	"pgrlab/core/report/axes"
)

// A FigureKind is a figure that can be drawn from journals.
type FigureKind struct {
	Name, Doc string
	panels    func(r *Report) []axes.Panel
}

var figures = []FigureKind{
	{"curves", "learning curves: the return over env steps", func(r *Report) []axes.Panel {
		return r.curves(quantity{Return, "evaluation return"}, true)
	}},
	{"dormant", "the share of dormant neurons of the policy while it learns", func(r *Report) []axes.Panel {
		return r.curves(quantity{dormantRatio, "dormant ratio of the policy"}, false)
	}},
	{"dynamics", "how far synthetic transitions are from what the task does", func(r *Report) []axes.Panel {
		return r.curves(quantity{"generated/dynamics/combined", "dynamics error of D_syn"}, false)
	}},
	{"relevance", "F over the real transitions: median, and 10 to 90 % of them", func(r *Report) []axes.Panel { return r.relevance() }},
	{"qbias", "the critics' value less the return that followed", func(r *Report) []axes.Panel {
		return r.curves(quantity{"q_bias/bias", "bias of the critics' value"}, false)
	}},
	{"final", "the return at the common step, beside what the paper and others report", func(r *Report) []axes.Panel { return r.final() }},
	{"cadence", "the return at the common step over the env steps between refits", func(r *Report) []axes.Panel { return r.cadence() }},
	{"time", "where the time of a run goes", func(r *Report) []axes.Panel { return r.time() }},
}

// Figures lists all kinds of figures.
func Figures() []FigureKind { return figures }

// Figure draws a figure as "svg" or "png".
func (r *Report) Figure(w io.Writer, name, format string) error {
	i := slices.IndexFunc(figures, func(f FigureKind) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no figure %q", name)
	}
	all := slices.DeleteFunc(figures[i].panels(r), func(p axes.Panel) bool { return len(p.Marks) == 0 })
	if len(all) == 0 {
		return fmt.Errorf("the journals of these runs do not hold what it shows: %s", figures[i].Doc)
	}
	return axes.Draw(w, format, all)
}

// quantity is a series of the journal with its name on an axis.
type quantity struct{ name, label string }

// curves draws a quantity over steps, one panel per task: the mean over seeds with a
// band of one deviation, or the single seeds if there are few.
func (r *Report) curves(q quantity, withReported bool) []axes.Panel {
	var all []axes.Panel
	color := colors()
	for _, t := range r.Tasks {
		if step, one := t.onlyStep(q.name); one {
			all = append(all, t.places(q, step, color))
			continue
		}
		p := axes.Panel{Title: t.Task, X: t.stepsAxis(), Y: q.label}
		for _, row := range t.Rows {
			i := color(row)
			p.Marks = append(p.Marks, curve(row, q.name, i)...)
			if withReported {
				p.Marks = append(p.Marks, row.reportedLine(i)...)
				p.Marks = append(p.Marks, row.othersCurves(i)...)
			}
		}
		all = append(all, p)
	}
	return all
}

// colors gives rows of one kind the same colour in all panels.
func colors() func(*Row) int {
	of := map[string]int{}
	return func(r *Row) int {
		key := r.cell.Label() + "\n" + r.Scale + "\n" + r.Touched
		if _, known := of[key]; !known {
			of[key] = len(of)
		}
		return of[key]
	}
}

// onlyStep returns the step at which a quantity was measured, if it was measured at a
// single step, which makes no curve.
func (t *Task) onlyStep(name string) (step int, one bool) {
	for _, row := range t.Rows {
		for _, s := range row.cell.Seeds {
			for _, p := range s.Series(name).finite() {
				if one && p.Step != step {
					return 0, false
				}
				step, one = p.Step, true
			}
		}
	}
	return step, one
}

// places draws a quantity that was measured at one step, one place per row: equal points
// would hide each other on a common axis.
func (t *Task) places(q quantity, step int, color func(*Row) int) axes.Panel {
	p := axes.Panel{Title: t.Task, Y: fmt.Sprintf("%s at step %s", q.label, Count(step))}
	for _, row := range t.Rows {
		m := axes.Mark{Kind: axes.Dot, Color: color(row), Label: "single seeds"}
		for _, s := range row.cell.Seeds {
			for _, point := range s.Series(q.name).finite() {
				m.X, m.Y = append(m.X, float64(len(p.Names))), append(m.Y, point.Value)
			}
		}
		if len(m.X) > 0 {
			p.Names = append(p.Names, row.place(fmt.Sprint(len(m.X))))
			p.Marks = append(p.Marks, m)
		}
	}
	return p
}

// curve draws the seeds of a row: of many the mean of those that have a score, over the steps that all of
// them cover, else one line for each. Seeds that failed are lines of their own, which end with a cross.
func curve(r *Row, name string, color int) []axes.Mark {
	var seeds []Series
	var failed []axes.Mark
	of := r.cell.Seeds
	if r.N >= MinSeeds {
		of = slices.Concat(r.counted, r.without())
	}
	for _, s := range of {
		series := s.Series(name).finite()
		switch {
		case len(series) == 0:
		case r.hasFailed(s): // a mean over all would end with it
			failed = append(failed, series.mark(axes.Thin, color), series[len(series)-1:].mark(axes.Cross, color))
			failed[1].Label = "last point of a seed that failed"
		default:
			seeds = append(seeds, series)
		}
	}
	label := fmt.Sprintf("%s (n=%d%s)", r.Label, len(seeds), r.forks())
	if n := len(r.Failed) + len(r.Filled) + len(r.FailedLater); n > 0 {
		label = fmt.Sprintf("%s (n=%d of %d%s)", r.Label, len(seeds), len(seeds)+n, r.forks())
	}
	if len(seeds) == 0 && len(failed) > 0 {
		failed[0].Label = label
	}
	if len(seeds) == 0 {
		return failed
	}
	steps := grid(seeds)
	if !r.spreads(len(seeds)) || len(steps) < 2 {
		var marks []axes.Mark
		for i, s := range seeds {
			m := s.mark(axes.Thin, color)
			if i == 0 {
				m.Label = label
			}
			marks = append(marks, m)
		}
		return append(marks, failed...)
	}
	mean := axes.Mark{Kind: axes.Line, Color: color, Label: label + ", mean ± deviation"}
	band := axes.Mark{Kind: axes.Band, Color: color, Below: true}
	for _, step := range steps {
		values := make([]float64, len(seeds))
		for i, s := range seeds {
			values[i] = s.between(step)
		}
		m, d := Mean(values), Deviation(values)
		mean.X, mean.Y = append(mean.X, float64(step)), append(mean.Y, m)
		band.Y, band.Upper = append(band.Y, m-d), append(band.Upper, m+d)
	}
	band.X = mean.X
	return append([]axes.Mark{band, mean}, failed...)
}

// mark draws the points of a series.
func (s Series) mark(kind axes.Kind, color int) axes.Mark {
	m := axes.Mark{Kind: kind, Color: color}
	for _, p := range s {
		m.X, m.Y = append(m.X, float64(p.Step)), append(m.Y, p.Value)
	}
	return m
}

// hasFailed says whether a seed failed, be it with a score or without one.
func (r *Row) hasFailed(s Seed) bool {
	return slices.ContainsFunc(slices.Concat(r.Failed, r.Filled, r.FailedLater), s.is)
}

// is says whether a failure is that of the seed.
func (s Seed) is(f Failure) bool { return f.Seed == s.Seed && f.Dir == s.Run.Dir }

// without returns the seeds of the cell that have no score because they failed.
func (r *Row) without() []Seed {
	return slices.DeleteFunc(slices.Clone(r.cell.Seeds), func(s Seed) bool { return !slices.ContainsFunc(r.Failed, s.is) })
}

// grid returns the steps of any of the series within the range that all of them cover.
func grid(seeds []Series) []int {
	low, high := first(seeds[0]), last(seeds[0])
	for _, s := range seeds {
		low, high = max(low, first(s)), min(high, last(s))
	}
	var steps []int
	for _, s := range seeds {
		for _, p := range s {
			if p.Step >= low && p.Step <= high {
				steps = append(steps, p.Step)
			}
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// stepsAxis names the axis of env steps, with the frames in a step if all rows have the
// same number.
func (t *Task) stepsAxis() string {
	n := t.Rows[0].Frames
	if n == 0 || slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.Frames != n }) {
		return "env steps"
	}
	return fmt.Sprintf("env steps, of %d %s of the task", n, plural(n, "frame"))
}

// relevance draws F over the real transitions, one panel per row: the values of
// different functions have different scales.
func (r *Report) relevance() []axes.Panel {
	var all []axes.Panel
	for _, t := range r.Tasks {
		for i, row := range t.Rows {
			p := axes.Panel{Title: t.Task + ", " + row.Label, X: "env steps", Y: "F(τ) of D_real"}
			drawn := 0
			for _, s := range row.cell.Seeds {
				low, high := s.Series("scores/q10").finite(), s.Series("scores/q90").finite()
				area, line := axes.Mark{Kind: axes.Band, Color: i, Below: true}, axes.Mark{Kind: axes.Thin, Color: i}
				band, median := area, line
				for _, m := range s.Series("scores/q50").finite() {
					l, okLow := low.at(m.Step)
					h, okHigh := high.at(m.Step)
					if !okLow || !okHigh {
						continue
					}
					if len(median.X) > 0 && slices.Contains(s.Run.Members[s.Member].rescored, m.Step) { // another unit
						band.X = median.X
						p.Marks = append(p.Marks, band, median)
						band, median = area, line
					}
					median.X, median.Y = append(median.X, float64(m.Step)), append(median.Y, m.Value)
					band.Y, band.Upper = append(band.Y, l), append(band.Upper, h)
				}
				if band.X = median.X; len(band.X) == 0 {
					continue
				}
				drawn++
				p.Marks = append(p.Marks, band, median)
			}
			if drawn > 0 {
				p.Marks[1].Label = fmt.Sprintf("%s (n=%d): median, 10 to 90 %%", row.Label, drawn)
			}
			all = append(all, p)
		}
	}
	return all
}
