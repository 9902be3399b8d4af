package report

import (
	"fmt"
	"strconv"
	"strings"
)

// final draws the returns at the common step, one place per row.
func (r *Report) final() []panel {
	var all []panel
	color := colors()
	for _, t := range r.Tasks {
		p := panel{title: t.Task, y: t.returnAxis()}
		for i, row := range t.Rows {
			p.names = append(p.names, row.place(row.of()))
			p.marks = append(p.marks, row.points(float64(i), color(row))...)
			p.marks = append(p.marks, row.reportedPlaces(i, color(row), t.Step)...)
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
func (r *Row) points(x float64, color int) []mark {
	if r.N == 0 {
		return nil
	}
	m := mark{kind: markPoint, color: color, y: r.Points, label: "single seeds"}
	for range r.Points {
		m.x = append(m.x, x)
	}
	marks := []mark{m}
	if v, in, ok := r.centre(); ok {
		statistic := OfInterquartileMeans
		if r.MeanIn != nil {
			statistic = OfMeans
		}
		marks = append(marks, mark{
			kind: markMean, x: []float64{x}, y: []float64{in.Low, v}, upper: []float64{in.High}, color: color,
			label: string(statistic) + ", 95 % interval",
		})
	}
	return marks
}

// cadence draws the returns over the setting refit_every. Rows of one method share a
// colour.
func (r *Report) cadence() []panel {
	var all []panel
	colors := map[string]int{}
	for _, t := range r.Tasks {
		p := panel{title: t.Task, x: "env steps between refits", y: t.returnAxis(), logX: true}
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
				marks[i].label = fmt.Sprintf("%s: %s", row.Method, marks[i].label)
			}
			p.marks = append(p.marks, marks...)
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
func (r *Report) time() []panel {
	var all []panel
	for _, t := range r.Tasks {
		p := panel{title: t.Task, y: "minutes per 10,000 env steps"}
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
			p.names = append(p.names, row.place(fmt.Sprint(runs)))
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
				p.marks = append(p.marks, mark{kind: markBar, x: []float64{float64(i)}, y: []float64{low}, upper: []float64{high}, color: k, label: label})
				low = high
			}
		}
		all = append(all, p)
	}
	return all
}

// short formats a count of steps as the paper does: 100000 as 100K.
func short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1_000 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "K"
	}
	return strconv.Itoa(n)
}
