package lab

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

const (
	mapDensity = 8_192 // transitions of D_real, and of D_syn, that are counted
	mapScored  = 1_024 // of D_real that are scored
)

// drawMap answers a Map.
func (x *experiment) drawMap(c event.Map) {
	out := &event.Mapped{X: c.X, Y: c.Y, Step: x.Step, FLow: math.NaN(), FHigh: math.NaN()}
	if err := x.guarded(func() error { return x.fillMap(out) }); err != nil {
		out.Unknown = err.Error()
	}
	x.mapped = out
}

func (x *experiment) fillMap(out *event.Mapped) error {
	if err := x.absent(); err != nil {
		return err
	}
	m := x.first()
	size := m.real.Shape().Obs
	if out.X < 0 || out.Y < 0 || out.X >= size || out.Y >= size {
		return fmt.Errorf("map of dimensions %d and %d: the observation has %d", out.X, out.Y, size)
	}
	if m.real.Len() == 0 {
		return errors.New("there are no transitions yet")
	}
	real := spread(m.real, mapDensity)
	var syn []int
	if m.synthetic != nil {
		syn = spread(m.synthetic, mapDensity)
	}
	out.Low = place(out, m.real.Row(real[0]))
	out.High = out.Low
	widen(out, m.real, real)
	widen(out, m.synthetic, syn)
	for _, slot := range real {
		out.Real[cellOf(out, m.real.Row(slot))]++
	}
	for _, slot := range syn {
		out.Syn[cellOf(out, m.synthetic.Row(slot))]++
	}
	out.RealN, out.SynN = len(real), len(syn)
	return x.scoreMap(out, m)
}

// widen widens the plane to rows of a buffer.
func widen(p *event.Mapped, r *replay.Ring, slots []int) {
	for _, slot := range slots {
		for k, v := range place(p, r.Row(slot)) {
			p.Low[k], p.High[k] = min(p.Low[k], v), max(p.High[k], v)
		}
	}
}

// place is where a row [s, a, r, s', d] lies.
func place(p *event.Mapped, row []float32) [2]float64 {
	return [2]float64{float64(row[p.X]), float64(row[p.Y])}
}

// cellOf is the cell that a row lies in.
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

// scoreMap adds the mean F of real transitions.
func (x *experiment) scoreMap(out *event.Mapped, m *member) error {
	for i := range out.F {
		out.F[i] = math.NaN()
	}
	name := x.Settings.Relevance
	if name == relevanceNone || m.f == nil || !m.built(name) {
		return nil
	}
	slots := spread(m.real, mapScored)
	f, err := m.scoresOf(m.f, m.real, slots)
	if err != nil {
		return err
	}
	out.Relevance = m.f.Name()
	var scored [event.MapColumns * event.MapRows]int // transitions of each cell
	for i, slot := range slots {
		c := cellOf(out, m.real.Row(slot))
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

// watch answers a Watch.
func (x *experiment) watch() {
	m := x.first()
	out := &event.Moment{Step: x.Step, Q: math.NaN(), F: math.NaN(), Action: append([]float32(nil), m.action...)}
	x.moment = out
	if m.real.Len() == 0 || x.absent() != nil {
		return
	}
	// What cannot be computed stays unknown: nobody asked for an error.
	_ = x.guarded(func() error {
		newest := m.scoring
		m.real.Gather(newest, 0, []int{m.real.Newest(0)})
		var v [1]float32
		if m.Updates > 0 {
			if a, ok := m.agent.(relevance.Values); ok {
				if err := a.Q(v[:], newest.Obs, 1); err != nil {
					return err
				}
				out.Q = float64(v[0])
			}
		}
		if name := x.Settings.Relevance; name != relevanceNone && m.f != nil && m.built(name) {
			if err := m.f.Score(v[:], newest, 1); err != nil {
				return err
			}
			out.F = float64(v[0])
		}
		return nil
	})
}
