package nn

import (
	"math"

	"pgrlab/core/rng"
)

// Orthogonal samples weights [in,out] whose shorter side is orthonormal times gain, as
// torch.nn.init.orthogonal_ does (Saxe et al. 2014), and sets biases to zero.
func Orthogonal(gain float64) Init {
	return func(w, b []float32, in, out int, s rng.Stream) {
		s.Sub("w").FillNormal(w, 0, 0)
		clear(b)
		count, length := min(in, out), max(in, out)
		at := func(vector, i int) *float32 {
			if in >= out {
				return &w[i*out+vector] // columns
			}
			return &w[vector*out+i] // rows
		}
		basis := make([][]float64, count)
		for v := range basis {
			x := make([]float64, length)
			for i := range x {
				x[i] = float64(*at(v, i))
			}
			// Two passes: one is not enough in floating point (Giraud et al. 2005).
			for range 2 {
				for _, done := range basis[:v] {
					subtractProjection(x, done)
				}
			}
			norm := math.Sqrt(dot(x, x))
			for i := range x {
				x[i] /= norm
				*at(v, i) = float32(gain * x[i])
			}
			basis[v] = x
		}
	}
}

func subtractProjection(x, unit []float64) {
	p := dot(x, unit)
	for i, u := range unit {
		x[i] -= p * u
	}
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
