package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/fan"
)

// score returns the number with which a run counts: the mean of the points from ScoreFrom
// to Step or, if ScoreFrom is 0, the last point at or before Step. It is false if there is
// no such point.
func (t *Task) score(s Series) (v float64, ok bool) {
	if t.ScoreFrom == 0 {
		return s.at(t.Step)
	}
	in := t.within(s)
	return Mean(in), len(in) > 0
}

// within are the values of the points from ScoreFrom to Step.
func (t *Task) within(s Series) (in []float64) {
	for _, p := range s {
		if p.Step >= t.ScoreFrom && p.Step <= t.Step {
			in = append(in, p.Value)
		}
	}
	return in
}

// scoreOfFailed returns the score of a seed that failed before Step, or whose return is no finite number: the
// mean of its evaluations from ScoreFrom on, where those that it did not reach, or that are no number, count
// with the task's least return. due is how many evaluations there were to be. It is false if they are not
// known, or if a run counts with its evaluation at Step.
func (t *Task) scoreOfFailed(s Seed, due int) (v float64, ok bool) {
	if t.ScoreFrom == 0 || due == 0 {
		return 0, false
	}
	in := t.within(s.Series(Return))
	due = max(due, len(in))
	sum := t.Least * float64(due-len(in))
	for _, r := range in {
		if !finite(r) {
			r = t.Least
		}
		sum += r
	}
	return sum / float64(due), true
}

// due is how many evaluations a seed of the cell makes from ScoreFrom to Step: the most that one made which
// got there or, if none of the cell did, that one would have made had it gone on. Of a cell without any
// evaluation it is that of the task, which makes no difference.
func (t *Task) due(c *Cell, all []*Cell) (most int) {
	for _, of := range [][]*Cell{{c}, all} {
		expected := 0
		for _, cell := range of {
			for _, s := range cell.Seeds {
				series := s.Series(Return)
				if s.reached(t.Step) {
					most = max(most, len(t.within(series)))
				}
				expected = max(expected, t.expected(series))
			}
		}
		if most = cmp.Or(most, expected); most > 0 {
			break
		}
	}
	return most
}

// expected is how many points a series has from ScoreFrom to Step if it goes on as it began; 0 if it has none.
// A run is evaluated for the first time after one distance.
func (t *Task) expected(s Series) int {
	begin := first(s)
	every := begin
	if len(s) > 1 {
		every = s[1].Step - begin
	}
	if every <= 0 || begin > t.Step {
		return 0
	}
	n := (t.Step-begin)/every + 1
	if t.ScoreFrom > begin {
		n -= (t.ScoreFrom - begin + every - 1) / every
	}
	return n
}

// leastReturn is the least return that is known of the task up to a step: 0, or less if an evaluation of the
// runs is.
func leastReturn(cells []*Cell, until int) float64 {
	least := 0.0
	for _, c := range cells {
		for _, s := range c.Seeds {
			for _, p := range s.Series(Return).finite() {
				if p.Step <= until {
					least = min(least, fan.Least([]float64{p.Value}))
				}
			}
		}
	}
	return least
}

// take adds a seed of the cell to the row: with its score, or to those without one.
func (r *Row) take(s Seed, t *Task, due int) {
	series := s.Series(Return)
	value, ok := t.score(series)
	switch {
	case !s.reached(t.Step) && s.Run.Failed != "":
		if value, ok = r.fail(s, s.failure(), t, due); !ok {
			return
		}
	case !s.reached(t.Step):
		r.Missing++
		return
	case !ok:
		r.Unscored++
		return
	case !finite(value):
		if value, ok = r.fail(s, s.notFinite(t), t, due); !ok {
			return
		}
	case s.Run.Failed != "":
		r.FailedLater = append(r.FailedLater, s.failure())
	}
	t.StepExact = t.StepExact && (!s.reached(t.Step) || slices.ContainsFunc(series, func(p Point) bool { return p.Step == t.Step }))
	r.N++
	r.counted = append(r.counted, s)
	if ratio, ok := t.score(s.Series(dormantRatio)); ok {
		r.Dormant.add(ratio)
	}
	r.Seeds = append(r.Seeds, s.Seed)
	r.Points = append(r.Points, value)
	if last(series) >= t.Step {
		if area, ok := series.Area(t.From, t.Step); ok {
			r.Area.add(area)
		}
	}
	r.Dirs = append(r.Dirs, s.Run.Dir)
	if s.Run.Changed != "" {
		r.Changed = append(r.Changed, s.Run.Dir)
	}
}

// fail adds a seed that failed, and returns the score with which it counts; false: it has none, as one that
// was well and ended with its cohort.
func (r *Row) fail(s Seed, why Failure, t *Task, due int) (score float64, ok bool) {
	if score, ok = t.scoreOfFailed(s, due); ok && !strings.HasPrefix(why.Reason, tookAlong) {
		r.Filled = append(r.Filled, why)
		return score, true
	}
	r.Failed = append(r.Failed, why)
	if why.Diverged {
		r.diverged = append(r.diverged, s)
	}
	return 0, false
}

// summarise computes the statistics over the seeds, if there are enough.
func (r *Row) summarise(s Statistic) {
	returns := r.summarised(Spread{Points: r.Points})
	r.Mean, r.Std = returns.Mean, returns.Std
	r.Area, r.Dormant = r.summarised(r.Area), r.summarised(r.Dormant)
	if r.N < s.takes() || r.ForksOf > 0 {
		return
	}
	if s != OfMeans {
		r.IQM = pointer(IQM(r.Points))
	}
	if flat(r.Points) {
		return
	}
	if s == OfMeans {
		half := Margin(estimate(r.Points))
		r.MeanIn = &Interval{Mean(r.Points) - half, Mean(r.Points) + half}
		return
	}
	var iqm interquartile
	in := Bootstrap(bootstrap.Sub("iqm "+r.cell.Task+" "+r.Label), [][]float64{r.Points}, func(s [][]float64) float64 { return iqm.of(s...) })
	r.IQMIn = &in
}

// centre returns the statistic by which rows are compared, with its interval; false: there are too few seeds.
func (r *Row) centre() (v float64, in Interval, ok bool) {
	switch {
	case r.MeanIn != nil:
		return Mean(r.Points), *r.MeanIn, true
	case r.IQMIn != nil:
		return *r.IQM, *r.IQMIn, true
	}
	return 0, Interval{}, false
}

// centred is that in words.
func (r *Row) centred() string {
	v, in, ok := r.centre()
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%s [%s, %s] (n=%s)", value(v), value(in.Low), value(in.High), r.of())
}
