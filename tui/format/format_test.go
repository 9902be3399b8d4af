package format

import (
	"math"
	"testing"
)

// A share that is no number is written as other values that are none.
func TestPercentOfNoNumber(t *testing.T) {
	for x, want := range map[float64]string{0.123: "12%", math.NaN(): "-", math.Inf(1): "Inf"} {
		if got := Percent(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
