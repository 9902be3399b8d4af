package inspect

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/core/replay"
)

const (
	mapDensity = 8_192 // transitions of D_real, and of D_syn, that are counted
	mapScored  = 1_024 // transitions of D_real that are scored
)

// Map counts the transitions in each cell over dimensions x and y of the observation, and
// adds F of the real ones there. It fails without real transitions.
func Map(v View, x, y int) (*event.Mapped, error) {
	out := &event.Mapped{X: x, Y: y, Step: v.Step, FLow: math.NaN(), FHigh: math.NaN()}
	size := v.Real.Shape().Obs
	if x < 0 || y < 0 || x >= size || y >= size {
		return out, fmt.Errorf("map of dimensions %d and %d: the observation has %d", x, y, size)
	}
	if v.Real.Len() == 0 {
		return out, errors.New("there are no transitions yet")
	}
	real := v.Real.Spread(mapDensity)
	var syn []int
	if v.Syn != nil {
		syn = v.Syn.Spread(mapDensity)
	}
	out.Low = place(out, v.Real.Row(real[0]))
	out.High = out.Low
	widen(out, v.Real, real)
	widen(out, v.Syn, syn)
	for _, slot := range real {
		out.Real[cellOf(out, v.Real.Row(slot))]++
	}
	for _, slot := range syn {
		out.Syn[cellOf(out, v.Syn.Row(slot))]++
	}
	out.RealN, out.SynN, out.Mixed = len(real), len(syn), v.Mixed
	return out, v.scoreMap(out)
}

// widen widens the plane to hold rows of a buffer.
func widen(p *event.Mapped, r *replay.Ring, slots []int) {
	for _, slot := range slots {
		for k, v := range place(p, r.Row(slot)) {
			p.Low[k], p.High[k] = min(p.Low[k], v), max(p.High[k], v)
		}
	}
}

// place returns where a row [s, a, r, s', d] lies in the plane.
func place(p *event.Mapped, row []float32) [2]float64 {
	return [2]float64{float64(row[p.X]), float64(row[p.Y])}
}

// cellOf returns the cell of a row.
func cellOf(p *event.Mapped, row []float32) int {
	at := place(p, row)
	index := func(k, n int) int {
		if !(p.High[k] > p.Low[k]) {
			return n / 2
		}
		return max(0, min(n-1, int(float64(n)*(at[k]-p.Low[k])/(p.High[k]-p.Low[k]))))
	}
	return index(1, event.MapRows)*event.MapColumns + index(0, event.MapColumns)
}

// scoreMap adds the mean F of the real transitions in each cell.
func (v *View) scoreMap(out *event.Mapped) error {
	for i := range out.F {
		out.F[i] = math.NaN()
	}
	if v.F.Name() == none || !v.Learned {
		return nil
	}
	slots := v.Real.Spread(v.F.AtOnce(mapScored))
	f, err := v.scoresOf(v.F, v.Real, slots)
	if err != nil || f == nil {
		return err
	}
	out.Relevance = v.F.Name()
	var scored [event.MapColumns * event.MapRows]int // transitions of each cell
	for i, slot := range slots {
		c := cellOf(out, v.Real.Row(slot))
		if scored[c]++; scored[c] == 1 {
			out.F[c] = 0
		}
		out.F[c] += (float64(f[i]) - out.F[c]) / float64(scored[c])
	}
	for i, n := range scored {
		if v := out.F[i]; n > 0 && !(v >= out.FLow) {
			out.FLow = v
		}
		if v := out.F[i]; n > 0 && !(v <= out.FHigh) {
			out.FHigh = v
		}
	}
	return nil
}

// Moment describes the newest transition of the first copy of the environment, as the agent
// sees it; copies is the number of copies. action is what the agent did. value computes
// Q(s, π(s)) and is nil if there is none yet. What cannot be computed stays unknown; for a View
// without transitions that is everything except the step and the action.
func Moment(v View, copies int, action []float32, value func(dst, obs []float32, rows int) error) *event.Moment {
	out := &event.Moment{Step: v.Step, Reward: math.NaN(), Q: math.NaN(), F: math.NaN(), V: math.NaN(), Action: append([]float32(nil), action...)}
	if v.Real == nil || v.Real.Len() < copies {
		return out
	}
	newest := v.Real.Newest(copies - 1)
	row, shape := v.Real.Row(newest), v.Real.Shape()
	out.Reward, out.Twin = float64(row[shape.Obs+shape.Act]), v.twin(row)
	v.Real.Gather(v.Scratch, 0, []int{newest})
	var number [1]float32
	if value != nil && value(number[:], v.Scratch.Obs, 1) == nil {
		out.Q = float64(number[0])
	}
	if v.F.Name() != none && v.Learned && v.F.Score(number[:], v.Scratch, 1) == nil {
		out.F = float64(number[0])
	}
	return out
}
