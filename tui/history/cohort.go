package history

import (
	"fmt"
	"math"

	"pgrlab/tui/chart"
	"pgrlab/tui/format"
)

// Pseudo-members for the curves of a whole cohort: mean, least and most of the members that were
// measured at a step.
const (
	mean = -1 - iota
	least
	most
)

// Main is the curve of a quantity, for a run of several seeds the curve of their mean; nil if the
// quantity was never measured.
func (h *History) Main(name CurveName) *Curve { return h.Curve(name, h.main()) }

// main is the member that stands for the run.
func (h *History) main() int {
	if h.Members() > 1 {
		return mean
	}
	return 0
}

// Band is the range of a run's seeds in a quantity; empty for one seed.
func (h *History) Band(name CurveName, x func(step int, wall float64) float64) (low, high []chart.Point) {
	if h.Members() == 1 {
		return nil, nil
	}
	return h.Curve(name, least).Points(x), h.Curve(name, most).Points(x)
}

// together updates the cohort's curves of a quantity at a step. The members go in lockstep, so a
// member that has a measurement at the step has it as its newest one.
func (h *History) together(name CurveName, step int, wall float64) {
	sum, n, lo, hi := 0.0, 0, math.Inf(1), math.Inf(-1)
	for member := range h.Members() {
		s, ok := h.Curve(name, member).Last()
		if !ok || s.Step != step || math.IsNaN(s.Y) {
			continue
		}
		sum, n, lo, hi = sum+s.Y, n+1, math.Min(lo, s.Y), math.Max(hi, s.Y)
	}
	if n == 0 {
		return
	}
	for member, y := range map[int]float64{mean: sum / float64(n), least: lo, most: hi} {
		c := h.Curve(name, member)
		if last, ok := c.Last(); ok && last.Step == step && !math.IsNaN(last.Y) { // a gap stays
			c.Samples[len(c.Samples)-1].Y = y
			continue
		}
		h.record(name, member, Sample{step, wall, y})
	}
}

// evaluated keeps an evaluation. The seeds of a cohort share one: the mean of their returns and its
// deviation over the seeds (n − 1).
func (h *History) evaluated(v Evaluation, cohort bool) *Evaluation {
	n := len(h.Evaluations)
	if !cohort || n == 0 || h.Evaluations[n-1].Step != v.Step {
		v.Returns = []float64{v.Mean}
		if cohort {
			v.Std = 0
		}
		h.Evaluations = append(h.Evaluations, v)
		return &h.Evaluations[n]
	}
	e := &h.Evaluations[n-1]
	e.Returns = append(e.Returns, v.Mean)
	sum, squares := 0.0, 0.0
	for _, r := range e.Returns {
		sum += r
	}
	e.Mean = sum / float64(len(e.Returns))
	for _, r := range e.Returns {
		squares += (r - e.Mean) * (r - e.Mean)
	}
	e.Std = math.Sqrt(squares / float64(len(e.Returns)-1))
	return e
}

// Of says over what an evaluation's mean and deviation are taken.
func (e Evaluation) Of() string {
	if e.Cohort() {
		return fmt.Sprintf("%d seeds", len(e.Returns))
	}
	return fmt.Sprintf("%d episodes", e.Episodes)
}

// Cohort says whether the evaluation covers several seeds.
func (e Evaluation) Cohort() bool { return len(e.Returns) > 1 }

// text is the evaluation's line among the events.
func (e Evaluation) text() string {
	center, std := format.SpreadOf(e.Mean, e.Std)
	return fmt.Sprintf("return %s ± %s over %s", center, std, e.Of())
}
