package generative

import "math"

// interval is a range of numbers. It can be saved as it is.
type interval struct{ Low, High float64 }

func (r interval) bound(x float64) float64 { return min(max(x, r.Low), r.High) }

func (r *interval) take(x float64) { r.Low, r.High = min(r.Low, x), max(r.High, x) }

// realRanges are the ranges of real transitions to which heads limit what they predict.
type realRanges struct {
	reward interval
	states []interval // by coordinate of an observation; empty if s' is not limited
}

// newRealRanges returns ranges that hold nothing yet.
func newRealRanges(c HeadConfig, l headLayout) realRanges {
	if c.Bounds != BoundsReal {
		return realRanges{}
	}
	return realRanges{states: make([]interval, l.obs)}
}

// take sets the ranges to those of rows: of r, and of every coordinate of s and s' together, also of angles
// without limits, which the agent reads as plain numbers.
func (r *realRanges) take(l headLayout, rows Rows) {
	none := interval{math.Inf(1), math.Inf(-1)}
	r.reward = none
	for j := range r.states {
		r.states[j] = none
	}
	for i := range rows.Len() {
		row := rows.Row(i)
		r.reward.take(float64(row[l.reward()]))
		for j := range r.states {
			r.states[j].take(float64(row[j]))
			r.states[j].take(float64(row[l.reward()+1+j]))
		}
	}
}

// state limits coordinate j of a predicted s'.
func (r realRanges) state(j int, x float64) float64 {
	if len(r.states) == 0 {
		return x
	}
	return r.states[j].bound(x)
}
