package inspect

import (
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
)

// truth sets the task to s of a row [s, a, r, s', d], steps it by a, and compares the row with what
// follows. Errors are in units of scale.
func (v *View) truth(row []float32, scale analysis.Reference) (*event.Truth, error) {
	shape := v.Syn.Shape()
	reward := shape.Obs + shape.Act
	row = append([]float32(nil), row...) // D_syn is made again while an answer is read
	t := &event.Truth{State: row[:shape.Obs], Action: row[shape.Obs:reward], Predicted: row[reward+1:][:shape.Obs], Reward: math.NaN(), Off: math.NaN()}
	sim, err := v.Simulator.open()
	if sim == nil || err != nil {
		return t, err
	}
	s, err := analysis.Simulate(sim, shape, row)
	if err != nil {
		return t, err
	}
	states := [3][]float32{t.State, t.Predicted}
	if s.Rows(shape) > 0 {
		t.True, t.Reward = s.True[reward+1:][:shape.Obs], float64(s.True[reward])
		t.Errors, t.Off = offBy(t.Predicted, t.True, scale.Change)
		states[2] = t.True
	}
	if env, is := v.Simulator.env.(posed); is {
		for i, state := range states {
			if state != nil && sim.Place(state) == nil {
				t.Poses[i] = env.Pose(nil)
			}
		}
	}
	return t, nil
}

// posed is an environment with a body; see task.Posed.
type posed interface{ Pose(dst []float64) []float64 }

// offBy returns the differences of two states in units of the root of variances, and the root of
// their mean square over the numbers that have a variance; NaN if none has.
func offBy(predicted, truth []float32, variances []float64) (each []float64, off float64) {
	each, n := make([]float64, len(predicted)), 0.0
	for i := range each {
		if each[i] = math.NaN(); variances[i] > 0 {
			each[i] = (float64(predicted[i]) - float64(truth[i])) / math.Sqrt(variances[i])
			off, n = off+each[i]*each[i], n+1
		}
	}
	return each, math.Sqrt(over(off, n))
}

// over is x/n, and NaN for n = 0.
func over(x, n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return x / n
}

// twinRows is how many rows of D_syn are compared with a transition, and of D_real to know how
// widely s and a are spread.
const twinRows = 4096

// twin finds the row of D_syn whose s and a are nearest to those of a real row; nil: there is none.
func (v *View) twin(row []float32) *event.Twin {
	if !v.hasSynthetic() || v.Syn.Shape() != v.Real.Shape() {
		return nil
	}
	shape := v.Syn.Shape()
	width := shape.Obs + shape.Act
	real := v.Real.Spread(min(twinRows, v.Real.Len()))
	weights := analysis.Spread(len(real), width, func(i int) []float32 { return v.Real.Row(real[i]) }).Variance
	used := 0.0
	for k, variance := range weights {
		if weights[k] = 0; variance > 0 {
			weights[k] = 1 / variance
			used++
		}
	}
	slot, nearest := -1, math.Inf(1)
	for _, i := range v.Syn.Spread(min(twinRows, v.Syn.Len())) {
		if d := weighted(row[:width], v.Syn.Row(i)[:width], weights, nearest); d < nearest {
			slot, nearest = i, d
		}
	}
	if slot < 0 || used == 0 {
		return nil
	}
	t := &event.Twin{Distance: math.Sqrt(nearest / used), Reward: float64(v.Syn.Row(slot)[width]), F: math.NaN()}
	if v.F.Name() != none && v.Learned {
		if f, err := v.scoresOf(v.F, v.Syn, []int{slot}); err == nil && f != nil {
			t.F = float64(f[0])
		}
	}
	return t
}

// weighted returns the weighted sum of squared differences, or some number above bound if the sum
// exceeds it.
func weighted(a, b []float32, weights []float64, bound float64) (sum float64) {
	for k, w := range weights {
		d := float64(a[k]) - float64(b[k])
		if sum += w * d * d; sum > bound {
			return sum
		}
	}
	return sum
}
