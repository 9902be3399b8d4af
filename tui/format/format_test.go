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

// What is neither none nor all says so, and small spreads keep their digits, without the sign of a zero.
func TestSmallSharesAndSpreads(t *testing.T) {
	for want, x := range map[string]float64{"0%": 0, "<1%": 1.0 / 256, "1%": 0.005, "50%": 0.5, "99%": 0.994, ">99%": 255.0 / 256, "100%": 1} {
		if got := Percent(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for want, x := range map[[2]string][2]float64{
		{"335", "22"}: {335.4, 21.6}, {"12.3", "1.5"}: {12.34, 1.5}, {"0.15", "0.13"}: {0.15, 0.13}, {"0.00", "5.00"}: {-0.003, 5},
		{"0.0023", "0.0011"}: {0.0023, 0.0011}, {"0.000", "0.020"}: {-0.0001, 0.02}, {"2.3e-4", "0"}: {0.00023, 0}, {"0.00", "0.00"}: {0, 0},
	} {
		if mean, std := SpreadOf(x[0], x[1]); mean != want[0] || std != want[1] {
			t.Errorf("%v: %q ± %q, want %q", x, mean, std, want)
		}
	}
}
