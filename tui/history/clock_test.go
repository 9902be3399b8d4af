package history

import (
	"testing"

	"pgrlab/core/knob"
)

func TestUpdatesFollowTheUTD(t *testing.T) {
	c := Clock{From: 1000, UTD: 20}
	c.ChangeUTD(2000, 10)
	c.ChangeUTD(3000, 5)
	for step, want := range map[int]float64{0: 0, 1000: 0, 1500: 10_000, 2000: 20_000, 2500: 25_000, 4000: 35_000} {
		if got := c.Updates(step); got != want {
			t.Errorf("%v updates after step %d, want %v", got, step, want)
		}
	}
}

// DrQ-v2 has an update in every second env step, after its random start.
func TestUpdatesAtIntervals(t *testing.T) {
	c := Clock{From: 1999, UTD: 1, Every: 2}
	for step, want := range map[int]float64{0: 0, 1999: 0, 2000: 1, 2001: 1, 10_000: 4001} {
		if got := c.Updates(step); got != want {
			t.Errorf("%v updates after step %d, want %v", got, step, want)
		}
	}
}

// The step of a position has its thousands separated, and the place within the step stays.
func TestPositionText(t *testing.T) {
	for want, p := range map[string]knob.Position{"24,000": knob.After(24_000), "24,000/fit:1200": knob.At(24_000, knob.Fit, 1200), "7": knob.After(7)} {
		if got := positionText(p); got != want {
			t.Errorf("%s is written %q, want %q", p, got, want)
		}
	}
}
