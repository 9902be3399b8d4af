package history

import "testing"

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
			t.Fatalf("step %d behind %d", s.Step, c.Samples[i-1].Step)
		}
	}
	if len(c.Samples) >= curveLimit || most != 500 {
		t.Errorf("%d samples, the largest %v", len(c.Samples), most)
	}
}
