package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The largest of four is what pooling over any window finds, whatever the numbers: equal ones, zeros of
// both signs, infinite ones and NaN.
func TestLargestOfFour(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	values := []float32{nan, -nan, -inf, -2, -1, float32(math.Copysign(0, -1)), 0, 1, 2, inf}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var of [4][]float32
		four := make([]float32, 4)
		for tap := range of {
			four[tap] = values[r.IntN(len(values))]
			of[tap] = four[tap : tap+1]
		}
		want := 0
		for tap, v := range four {
			if tap > 0 && exceeds(v, four[want]) {
				want = tap
			}
		}
		y, dx := []float32{9}, make([]float32, 4)
		largestOfFour(y, of)
		toLargestOfFour(dx, []float32{5}, of, [4]int{0, 1, 2, 3})
		for tap, got := range dx {
			if got != 0 != (tap == want) {
				t.Fatalf("of %v the gradient goes to %v, want place %d", four, dx, want)
			}
		}
		if y[0] != four[want] && (y[0] == y[0] || four[want] == four[want]) {
			t.Fatalf("of %v the largest is %v, want %v", four, y[0], four[want])
		}
	}
}
