package agent

import (
	"math"
	"testing"

	"pgrlab/core/event"
)

// Rows outside of the bins count as well, which are of the body of the distribution.
func TestShareBelow(t *testing.T) {
	h := event.Histogram{Rows: 100, Min: -5, Max: 9, Low: 0, High: 1}
	for i := range 98 {
		h.Counts[i%len(h.Counts)]++
	}
	for f, want := range map[float64]float64{10: 1, 9: 1, 0.999999: 0.99, 0: 0.01, -6: 0} {
		if got := shareBelow(&h, f); math.Abs(got-want) > 1e-4 {
			t.Errorf("%v is above %v of the rows, want %v", f, got, want)
		}
	}
	if h.Min = 0; math.Abs(shareBelow(&h, 0.999999)-0.98) > 1e-4 {
		t.Errorf("where none lies below the bins: %v", shareBelow(&h, 0.999999))
	}
}
