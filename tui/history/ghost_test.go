package history

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

// A run that diverged counts with the least return of all from there on, and one that ends without
// that counts no longer.
func TestWhatCountsOfOtherRuns(t *testing.T) {
	g := NewGhost([]Past{
		{Seed: 1, Steps: []int{100, 200, 300}, Returns: []float64{10, 20, 30}},
		{Seed: 2, Steps: []int{100, 200}, Returns: []float64{12, -4}, Diverged: 250},
		{Seed: 3, Steps: []int{100, 300}, Returns: []float64{30, 50}},
		{Seed: 4, Steps: []int{100, 200}, Returns: []float64{11, math.NaN()}},
	})
	for _, want := range []struct {
		step   int
		values []float64
		median float64
	}{
		{50, nil, 0},
		{100, []float64{10, 11, 12, 30}, 11.5},
		{150, []float64{3.5, 4, 15, 35}, 9.5},
		{200, []float64{-4, -4, 20, 40}, 8},
		{250, []float64{-4, 25, 45}, 25},
		{400, []float64{-4}, 0},
	} {
		values, ok := g.Values(want.step), false
		var b Beside
		if b, ok = g.At(want.step); ok != (len(want.values) >= GhostFrom) || len(values) != len(want.values) {
			t.Fatalf("at %d: %v", want.step, values)
		}
		for i := range values {
			if math.Abs(values[i]-want.values[i]) > 1e-12 {
				t.Errorf("at %d: %v, want %v", want.step, values, want.values)
			}
		}
		if ok && math.Abs(b.Median-want.median) > 1e-12 {
			t.Errorf("at %d the median is %v, want %v", want.step, b.Median, want.median)
		}
	}
	if b, _ := g.At(200); b.Under(20) != 2 || b.Under(-4) != 0 || b.Under(41) != 4 {
		t.Errorf("under 20: %d", b.Under(20))
	}
}

// How often one more run lies between the quantiles of few others, as the help says (NumPy's quantile,
// 40,000 cases: 0.420, 0.661 and 0.748).
func TestWhatAGhostHolds(t *testing.T) {
	for n, want := range map[int]float64{3: 0.42, 10: 0.66, 30: 0.75} {
		const cases = 3_000
		held := 0
		for k := range cases {
			draws := rng.New(uint64(k), "ghost").At(0)
			var runs []Past
			for range n {
				runs = append(runs, Past{Steps: []int{1}, Returns: []float64{draws.Norm()}})
			}
			b, _ := NewGhost(runs).At(1)
			if y := draws.Norm(); b.Low <= y && y <= b.High {
				held++
			}
		}
		if share := float64(held) / cases; math.Abs(share-want) > 0.03 {
			t.Errorf("of %d runs: one more lies there in %.3f of the cases", n, share)
		}
	}
}
