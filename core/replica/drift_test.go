package replica

import (
	"math"
	"testing"
)

// Rows that do not move have no drift, and rows that move by as much as they are spread have a
// drift of 1. Without a spread there is nothing to measure the drift by.
func TestDrift(t *testing.T) {
	then := []float32{1, -2, -1, 2} // two rows with mean 0 and ‖·‖² = 5 each
	for _, c := range []struct {
		now  []float32
		want float64
	}{
		{then, 0},
		{[]float32{0, 0, 0, 0}, 1},
		{[]float32{-1, 2, 1, -2}, 4},
		{[]float32{1, -2, -1, 3}, 0.1},
	} {
		if got := drift(c.now, then, then, 2); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("from %v to %v it is %v, want %v", then, c.now, got, c.want)
		}
	}
	if got := drift([]float32{1, 2}, []float32{3, 3}, []float32{3, 3}, 1); !math.IsNaN(got) {
		t.Errorf("of rows that are all alike it is %v", got)
	}
	if got := meanSize([]float32{0.5, -1, 0}); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("the mean size is %v", got)
	}
}
