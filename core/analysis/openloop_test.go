package analysis

import (
	"math"
	"slices"
	"testing"
)

// A model that predicts one number exactly and the other one with an error that grows by a deviation a step.
func TestOpenLoop(t *testing.T) {
	const rows, steps, context, width = 2, 8, 3, 3
	real, predicted := make([]float32, rows*steps*width), make([]float32, rows*steps*width)
	for row := range rows {
		for step := range steps {
			at := (row*steps + step) * width
			real[at], real[at+1], real[at+2] = float32(step%2), float32(2*(step%2)), 5 // deviations 1/2, 1 and 0
			copy(predicted[at:], real[at:at+width])
			if step >= context {
				predicted[at+1] += float32(step - context + 1)
			}
		}
	}
	m := MeasureOpenLoop(real, predicted, rows, steps, context, 1)
	if !slices.Equal(m.Horizon, []int{1, 2, 4, 5}) {
		t.Errorf("horizons %v", m.Horizon)
	}
	for i, h := range m.Horizon {
		if want := float64(h) / 2; math.Abs(m.Error[i]-want) > 1e-6 { // the mean over the two numbers that vary
			t.Errorf("error at %d is %v, want %v", h, m.Error[i], want)
		}
		if want := 2 * float64(h%2); math.Abs(m.Held[i]-want) > 1e-6 { // the last observation is of the other kind after an odd number of steps
			t.Errorf("held at %d is %v, want %v", h, m.Held[i], want)
		}
	}
	if m.Each[0] != 0 || math.Abs(m.Each[1]-math.Sqrt(11)) > 1e-6 || !math.IsNaN(m.Each[2]) {
		t.Errorf("by number: %v", m.Each)
	}
	if got := m.Spread(1); !slices.Equal(got, []int{0}) {
		t.Errorf("the best one is %v", got)
	}
	if got := (OpenLoop{Each: []float64{3, 1, math.NaN(), 2, 5, 4}}).Spread(3); !slices.Equal(got, []int{1, 0, 4}) {
		t.Errorf("spread %v", got)
	}
}
