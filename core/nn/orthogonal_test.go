package nn

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

func TestOrthogonal(t *testing.T) {
	for _, size := range [][2]int{{5, 3}, {3, 5}, {40, 40}} {
		in, out := size[0], size[1]
		w, b := make([]float32, in*out), []float32{7}
		Orthogonal(math.Sqrt2)(w, b, in, out, rng.New(1, "orthogonal"))
		if b[0] != 0 {
			t.Error("a bias is not zero")
		}
		for i := range min(in, out) {
			for j := range min(in, out) {
				sum := 0.0
				for k := range max(in, out) {
					if in >= out {
						sum += float64(w[k*out+i]) * float64(w[k*out+j])
					} else {
						sum += float64(w[i*out+k]) * float64(w[j*out+k])
					}
				}
				want := 0.0
				if i == j {
					want = 2
				}
				if math.Abs(sum-want) > 1e-5 {
					t.Errorf("%d×%d: product of vectors %d and %d is %g, want %g", in, out, i, j, sum, want)
				}
			}
		}
	}
}
