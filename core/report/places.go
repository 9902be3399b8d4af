package report

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/core/report/axes"
)

// final draws the returns at the common step, one place per row.
func (r *Report) final() []axes.Panel {
	var all []axes.Panel
	color := colors()
	for _, t := range r.Tasks {
		p := axes.Panel{Title: t.Task, Y: t.returnAxis()}
		for i, row := range t.Rows {
			p.Names = append(p.Names, row.place(row.of()))
			p.Marks = append(p.Marks, row.points(float64(i), color(row))...)
			p.Marks = append(p.Marks, row.reportedPlaces(i, color(row), t.Step)...)
		}
		all = append(all, p)
	}
	return all
}

// returnAxis names the axis of the numbers with which seeds count.
func (t *Task) returnAxis() string {
	if t.ScoreFrom > 0 {
		return fmt.Sprintf("mean return from step %s to %s", Count(t.ScoreFrom), Count(t.Step))
	}
	return fmt.Sprintf("return at step %s", Count(t.Step))
}

// place returns the name of a row's place on the x axis, in short lines.
func (r *Row) place(n string) string {
	return fmt.Sprintf("%s\n(n=%s)", strings.NewReplacer(", ", "\n", " · ", "\n").Replace(r.Label), n)
}

// points draws the single seeds of a row at a place of the x axis and, with enough
// seeds, their statistic with its interval.
func (r *Row) points(x float64, color int) []axes.Mark {
	if r.N == 0 {
		return nil
	}
	m := axes.Mark{Kind: axes.Dot, Color: color, Y: r.Points, Label: "single seeds"}
	for range r.Points {
		m.X = append(m.X, x)
	}
	marks := []axes.Mark{m}
	if v, in, ok := r.centre(); ok {
		statistic := OfInterquartileMeans
		if r.MeanIn != nil {
			statistic = OfMeans
		}
		marks = append(marks, axes.Mark{
			Kind: axes.Interval, X: []float64{x}, Y: []float64{in.Low, v}, Upper: []float64{in.High}, Color: color,
			Label: string(statistic) + ", 95 % interval",
		})
	}
	return marks
}

// cadence draws the returns over the setting refit_every. Rows of one method share a
// colour.
func (r *Report) cadence() []axes.Panel {
	var all []axes.Panel
	colors := map[string]int{}
	for _, t := range r.Tasks {
		p := axes.Panel{Title: t.Task, X: "env steps between refits", Y: t.returnAxis(), LogX: true}
		for _, row := range t.Rows {
			every, err := strconv.ParseFloat(row.cell.Seeds[0].Run.Settings["knobs.refit_every"], 64)
			if err != nil || every <= 0 || row.Touched != "" {
				continue
			}
			color, known := colors[row.Method]
			if !known {
				color = len(colors)
				colors[row.Method] = color
			}
			marks := row.points(every, color)
			for i := range marks {
				marks[i].Label = fmt.Sprintf("%s: %s", row.Method, marks[i].Label)
			}
			p.Marks = append(p.Marks, marks...)
		}
		all = append(all, p)
	}
	return all
}

// spent lists the parts of a run's time in the order in which they are drawn, with the
// series that hold them.
var spent = []struct {
	label  string
	series []string
}{
	{"agent's updates", []string{"perf/spent_s/agent"}},
	{"relevance: updates and scores", []string{"perf/spent_s/models", "perf/spent_s/score"}},
	{"generator's steps", []string{"perf/spent_s/fit"}},
	{"synthetic transitions", []string{"perf/spent_s/generate"}},
	{"evaluation", []string{"perf/spent_s/evaluate"}},
}

// spentOn returns the minutes per 10,000 env steps that the run of a seed spent on each part, and
// then on everything else; nil if it does not say, as a run from a results file.
func (s Seed) spentOn() []float64 {
	sums, scale, rest, known := make([]float64, len(spent)+1), 10_000/float64(s.Run.Step)/60, s.Run.WallS, false
	for k, what := range spent {
		for _, name := range what.series {
			for _, point := range s.Run.Members[s.Member].Series[name] {
				sums[k] += point.Value * scale
				rest, known = rest-point.Value, true
			}
		}
	}
	if !known {
		return nil
	}
	sums[len(spent)] = rest * scale
	return sums
}

// time draws the time that the parts of a run take, per 10,000 env steps.
func (r *Report) time() []axes.Panel {
	var all []axes.Panel
	for _, t := range r.Tasks {
		p := axes.Panel{Title: t.Task, Y: "minutes per 10,000 env steps"}
		for i, row := range t.Rows {
			runs, sums := 0, make([]float64, len(spent)+1)
			for _, s := range row.cell.Seeds {
				if s.Member > 0 || s.Run.Step == 0 {
					continue // a run has one clock
				}
				parts := s.spentOn()
				if parts == nil {
					continue
				}
				runs++
				for k, part := range parts {
					sums[k] += part
				}
			}
			p.Names = append(p.Names, row.place(fmt.Sprint(runs)))
			low := 0.0
			for k, sum := range sums {
				label := "everything else: environment, analyses, waiting"
				if k < len(spent) {
					label = spent[k].label
				}
				if runs == 0 || sum <= 0 {
					continue
				}
				high := low + sum/float64(runs)
				p.Marks = append(p.Marks, axes.Mark{Kind: axes.Bar, X: []float64{float64(i)}, Y: []float64{low}, Upper: []float64{high}, Color: k, Label: label})
				low = high
			}
		}
		all = append(all, p)
	}
	return all
}
