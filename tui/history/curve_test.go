package history

import (
	"math"
	"slices"
	"testing"
)

// A curve that is halved keeps its spikes and its order.
func TestCurveKeepsSpikes(t *testing.T) {
	var c Curve
	for i := range 100_000 {
		y := float64(i % 7)
		if i == 54_321 {
			y = 500
		}
		c.Add(Sample{Step: i, Y: y})
	}
	most := 0.0
	for i, s := range c.Samples {
		most = max(most, s.Y)
		if i > 0 && s.Step < c.Samples[i-1].Step {
			t.Fatalf("step %d after %d", s.Step, c.Samples[i-1].Step)
		}
	}
	if len(c.Samples) >= curveLimit || most != 500 {
		t.Errorf("%d samples, the largest %v", len(c.Samples), most)
	}
}

// The newest sample stays when a curve is halved, even if it is no extreme, and gaps are none: the
// mean of a cohort finds its members at each step.
func TestHalvedCurveKeepsTheNewest(t *testing.T) {
	h := New(0, 1)
	h.cohort, h.highest = true, 1
	for step := range 2 * curveLimit {
		for member := range 2 {
			h.measure(CurveReturn, member, step, 0, float64(step%3))
			if last, _ := h.Main(CurveReturn).Last(); last.Step != step || last.Y != float64(step%3) {
				t.Fatalf("step %d: the newest mean is %+v", step, last)
			}
		}
	}
	gap := math.NaN()
	for _, test := range []struct{ ys, want []float64 }{
		{[]float64{1, 2, 3, gap}, []float64{1, 3}}, {[]float64{1, gap, 5, 6}, []float64{1, 6}}, {[]float64{gap, 4, 3, gap}, []float64{4, 3}},
		{[]float64{gap, 7, gap, gap}, []float64{7}}, {[]float64{2, 2, 2, 2}, []float64{2, 2}},
	} {
		var s []Sample
		for i, y := range test.ys {
			s = append(s, Sample{Step: i, Y: y})
		}
		var got []float64
		for _, e := range extremes(s) {
			got = append(got, e.Y)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("of %v stay %v, want %v", test.ys, got, test.want)
		}
	}
}
