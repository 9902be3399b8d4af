package history

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/tui/format"
)

const (
	worthAWarning = 10 // a smaller bias of Q is none: the value of a reward of 0.1 for ever at γ = 0.99; our choice
	farAbove      = 3  // times the largest return so far; our choice
)

// overestimation follows how far the critics' value lies above the returns that follow. In its
// first updates a critic overestimates, with the entropy bonus of a random policy in its value, and
// then no longer does; one that diverges comes back to that peak and goes beyond.
type overestimation struct {
	peak    float64 // the largest bias before it fell
	fell    bool    // to less than half of the peak
	returns float64 // the largest discounted return
	warned  bool
}

// add takes one comparison and says whether the critics diverge from now on. It says so once, and again
// only after the bias was below the peak in between.
func (o *overestimation) add(b event.QBias) bool {
	bias := float64(b.Bias)
	if math.IsNaN(bias) {
		return false
	}
	o.returns = max(o.returns, math.Abs(float64(b.Return)))
	away := o.fell && bias > max(o.peak, worthAWarning, farAbove*o.returns)
	first := away && !o.warned
	switch o.warned = away; {
	case o.fell:
	case o.peak > worthAWarning && bias < o.peak/2:
		o.fell = true
	default:
		o.peak = max(o.peak, bias)
	}
	return first
}

// takeQBias keeps a comparison of the critics' value with returns. The text is empty unless the
// critics diverge.
func (h *History) takeQBias(e event.Event, wall float64, b event.QBias) (text string) {
	member := max(0, e.Member)
	h.measure(CurveQBias, member, e.Step, wall, float64(b.Bias))
	if h.values == nil {
		h.values = map[int]*overestimation{}
	}
	o := h.values[member]
	if o == nil {
		o = &overestimation{}
		h.values[member] = o
	}
	if !o.add(b) {
		return ""
	}
	return "critics diverge: Q is " + format.Number(float64(b.Q)) + ", returns that follow " + format.Number(float64(b.Return)) +
		"; try a smaller r, or a fork from an earlier checkpoint"
}
