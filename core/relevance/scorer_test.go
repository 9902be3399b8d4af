package relevance

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
)

// F of a few rows equals F of the same rows among many, and the program for few rows is kept. It is
// equal bit for bit, except in the family "amx", which sums products of fewer than 16 rows in another
// order.
func TestFewRowsScoreAsAmongMany(t *testing.T) {
	for _, family := range kernel.Available() {
		c := smallFrameRND()
		c.ScoreRows = 40
		frames := newFrameRND(t, c, 36, cpu.Options{Threads: 1, Family: family})
		numbers, err := NewRND(c, little, frames.device, 3)
		if err != nil {
			t.Fatal(err)
		}
		defer numbers.Close()
		b := filmed(33, 36, 5)
		fillBatch(b, 5)
		for name, f := range map[string]interface {
			Function
			scorer(int) (*scorer, error)
		}{"numbers": numbers, "frames": frames} {
			all := make([]float32, 33)
			if err := f.Score(all, b, 33); err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{1, 3, 8, 3, 16} {
				few := make([]float32, rows)
				if err := f.Score(few, b, rows); err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(few, all[:rows], func(x, y float32) bool {
					return x == y || family == "amx" && math.Abs(float64(x-y)) < 1e-6*float64(y)
				}) {
					t.Errorf("%s, %s: %d rows score %v, among 33 %v", family, name, rows, few, all[:rows])
				}
			}
		}
		if s, err := numbers.scorer(3); numbers.scorers.Len() != 1+4 || frames.scorers.Len() != 1+4 || err != nil || s.Rows != 4 {
			t.Errorf("%d and %d programs, want 5, four of them for few rows: %v", numbers.scorers.Len(), frames.scorers.Len(), err)
		}
	}
}
