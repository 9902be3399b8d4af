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
		{measured{value: 1, err: 0}, measured{value: 1.2, err: 0}, held},
		{measured{value: 1, err: 0}, measured{value: 0.8, err: 0}, didNotHold},
		{measured{value: 1, err: 0}, measured{value: 1.05, err: 0}, cannotTell},
		{measured{value: 1, err: 0.2}, measured{value: 1.3, err: 0.2}, cannotTell},
		{measured{value: 1, err: 0.05}, measured{value: 1.3, err: 0.05}, held},
		{measured{value: math.NaN(), err: 0}, measured{value: 1, err: 0}, cannotTell},
		{measured{value: 1}, measured{value: 9, forks: new(0)}, cannotTell},
		{measured{value: 1}, measured{value: 1.01, forks: new(1)}, held},
		{measured{value: 1}, measured{value: 0.99, forks: new(-1)}, didNotHold},
	} {
		if got := judge(r, c.from, c.to); got != c.want {
			t.Errorf("%v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// The typical error is the geometric mean, with the standard error that its logarithms have.
func TestTypicalErrors(t *testing.T) {
	m := typical([]float64{0.1, 10})
	if math.Abs(m.value-1) > 1e-12 || math.Abs(m.err-math.Log(10)) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if m := typical([]float64{0}); m.value != 1e-3 && math.Abs(m.value-1e-3) > 1e-12 || m.err != 0 {
		t.Errorf("no error: %+v", m)
	}
	if m := typical(nil); !math.IsNaN(m.value) {
		t.Errorf("of none: %+v", m)
	}
}
