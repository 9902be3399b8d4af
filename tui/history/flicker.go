package history

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"pgrlab/core/event"
	"pgrlab/tui/format"
)

// Noise is how the evaluations of one run vary by themselves. Most of it is the policy, which
// differs from one evaluation to the next (Rahn et al. 2023, arXiv 2309.14597); the episodes of an
// evaluation are a small part.
type Noise struct {
	Level   float64 // where the run stands: the median of the last evaluations
	Flicker float64 // the deviation of one evaluation
	AtMost  bool    // the curve rises or falls so steadily that learning is in the flicker too
}

// The evaluations that level and flicker are taken from; before there are six the noise is unknown.
const (
	levelOf       = 4
	differencesOf = 8
	NoiseFrom     = 6
)

// NoiseOf is the noise of evaluations in order; ok is false if they are too few.
func NoiseOf(returns []float64) (n Noise, ok bool) {
	y := returns
	if slices.ContainsFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		y = slices.DeleteFunc(slices.Clone(y), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	}
	if len(y) < NoiseFrom {
		return Noise{}, false
	}
	y = y[max(0, len(y)-differencesOf-1):]
	squares := 0.0
	for i := range y[1:] {
		squares += (y[i+1] - y[i]) * (y[i+1] - y[i])
	}
	m := float64(len(y) - 1)
	half := squares / m / 2
	slope := (y[len(y)-1] - y[0]) / m
	last := slices.Sorted(slices.Values(y[len(y)-levelOf:]))
	return Noise{
		Level:   (last[levelOf/2-1] + last[levelOf/2]) / 2,
		Flicker: math.Sqrt(half),
		AtMost:  slope*slope/2 > half/4, // a quarter or more of it is the mean slope
	}, true
}

// Noise is the noise of the run's evaluations up to a step. That of a run of several seeds is not
// taken: their own spread is shown.
func (h *History) Noise(step int) (n Noise, ok bool) {
	if h.Members() > 1 {
		return Noise{}, false
	}
	return h.noiseBefore(sort.Search(len(h.Evaluations), func(i int) bool { return h.Evaluations[i].Step > step }))
}

// noiseBefore is the noise of the evaluations before the i-th.
func (h *History) noiseBefore(i int) (n Noise, ok bool) {
	from := max(0, i-differencesOf-1)
	y := make([]float64, 0, differencesOf+1)
	for _, e := range h.Evaluations[from:i] {
		y = append(y, e.Mean)
	}
	return NoiseOf(y)
}

// The number of flickers below the level from which a single evaluation is marked as a fall on the
// chart, and from which it is an event.
const (
	FallMarked = 3
	fallEvent  = 4
)

// Below is how many flickers the i-th evaluation lies below the level that the run had before it;
// negative: above. It is NaN while the noise is unknown.
func (h *History) Below(i int) float64 {
	n, ok := h.noiseBefore(i)
	if !ok || n.Flicker == 0 || h.Members() > 1 {
		return math.NaN()
	}
	return (n.Level - h.Evaluations[i].Mean) / n.Flicker
}

// Once says how often an evaluation of an untouched run lies that far below its level: once in so
// many. Measured on the 4,172 evaluations of the 298 runs in docs/evidence/study.csv and
// study-bounded.csv that had six before them; 0: too near the level to count.
func Once(below float64) int {
	for _, r := range []struct {
		flickers float64
		once     int
	}{{4, 400}, {3, 90}, {2, 30}, {1, 10}} {
		if below >= r.flickers {
			return r.once
		}
	}
	return 0
}

// addFall adds a line if the newest evaluation fell much further than the run's noise explains.
func (h *History) addFall(e event.Event) {
	i := len(h.Evaluations) - 1
	below := h.Below(i)
	if !(below >= fallEvent) {
		return
	}
	n, _ := h.noiseBefore(i)
	h.Add(EventLine{Wall: e.Wall, Step: e.Step, Kind: "fell", Warning: true,
		Text:   fmt.Sprintf("return %s is %.1f flickers below the level of %s; 1 in %d evaluations of recorded runs is", format.Number(h.Evaluations[i].Mean), below, format.Number(n.Level), Once(below)),
		Briefs: []string{fmt.Sprintf("return %s, %.1f flickers below the level of %s", format.Number(h.Evaluations[i].Mean), below, format.Number(n.Level))}})
}
