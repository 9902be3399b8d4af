package lesson

import (
	"math"
	"testing"

	"pgrlab/presets"
)

// A reveal follows from the numbers of the run: the same claim held, did not hold, or cannot be
// decided.
func TestJudge(t *testing.T) {
	r := presets.Reveal{Claim: "rises", Margin: 0.1}
	for _, c := range []struct {
		from, to measured
		want     verdict
	}{
		{measured{1, 0}, measured{1.2, 0}, held},
		{measured{1, 0}, measured{0.8, 0}, didNotHold},
		{measured{1, 0}, measured{1.05, 0}, cannotTell},
		{measured{1, 0.2}, measured{1.3, 0.2}, cannotTell},
		{measured{1, 0.05}, measured{1.3, 0.05}, held},
		{measured{math.NaN(), 0}, measured{1, 0}, cannotTell},
	} {
		if got := judge(r, c.from, c.to); got != c.want {
			t.Errorf("%v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
