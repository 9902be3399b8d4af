package sac

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// The values of the mean actions are those of Q, row by row and for every program size.
func TestValueOfMeanActionsIsQ(t *testing.T) {
	s := newAgent(t, small(), 3)
	const rows = valueRows + 37
	obs, act := make([]float32, rows*5), make([]float32, rows*2)
	rng.New(1, "test").FillNormal(obs, 0, 0)
	q, value := make([]float32, rows), make([]float32, rows)
	if err := actMean(s, act, obs, rows); err != nil {
		t.Fatal(err)
	}
	if err := s.Q(q, obs, rows); err != nil {
		t.Fatal(err)
	}
	if err := s.Value(value, obs, act, rows); err != nil {
		t.Fatal(err)
	}
	for i := range q {
		if math.Abs(float64(q[i]-value[i])) > 1e-5 {
			t.Fatalf("row %d: Q(s, π(s)) is %v, the value of that action %v", i, q[i], value[i])
		}
	}
}

// 1/π(a|s) of samples that fall into an interval averages to the interval's length: samples and log
// π belong to the same density. Other draws are not affected.
func TestSamplesHaveTheirDensity(t *testing.T) {
	c := small()
	c.Act = 1
	s := newAgent(t, c, 3)
	const rows = 8 * valueRows
	obs := slices.Repeat([]float32{0.3, -1, 0.2, 0.7, -0.4}, rows)
	act, logp := make([]float32, rows), make([]float32, rows)
	if err := s.Sample(act, logp, obs, rows, 7); err != nil {
		t.Fatal(err)
	}
	length := 0.0
	for i, a := range act {
		if a > -0.5 && a < 0.5 {
			length += math.Exp(-float64(logp[i])) / rows
		}
	}
	if math.Abs(length-1) > 0.05 {
		t.Errorf("the interval (-0.5, 0.5) measures %v by its samples", length)
	}
	again, other := make([]float32, rows), make([]float32, rows)
	if err := s.Sample(again, logp, obs, rows, 7); err != nil || !slices.Equal(act, again) {
		t.Errorf("the same occasion draws other actions (%v)", err)
	}
	if err := s.Sample(other, logp, obs, rows, 8); err != nil || slices.Equal(act, other) {
		t.Errorf("another occasion draws the same actions (%v)", err)
	}
}
