package runs

import (
	"math"
	"testing"
)

// The interval is Student's t over pairs: the differences 1, 2, 3 have mean 2, deviation 1, and
// 4.303/√3 on both sides.
func TestIntervalIsOverPairs(t *testing.T) {
	mean, half, ok := interval([]float64{1, 2, 3})
	if want := 4.303 / math.Sqrt(3); !ok || mean != 2 || math.Abs(half-want) > 1e-9 {
		t.Errorf("%v ± %v, %v; want 2 ± %v", mean, half, ok, want)
	}
	if _, _, ok := interval([]float64{1}); ok {
		t.Error("one pair has an interval")
	}
}
