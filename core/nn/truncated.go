package nn

import (
	"math"

	"pgrlab/core/rng"
)

// TruncatedNormal samples weights from a normal distribution of deviation scale/√in that is cut off at
// twice that, without scaling it up again; biases are 0.
func TruncatedNormal(scale float64) Init {
	return func(w, b []float32, in, _ int, s rng.Stream) {
		clear(b)
		draw, again := make([]float32, len(w)), true
		for attempt := uint64(0); again; attempt++ {
			s.Sub("w").FillNormal(draw, attempt, 0)
			again = false
			for i, z := range draw {
				switch {
				case attempt > 0 && !math.IsNaN(float64(w[i])):
				case math.Abs(float64(z)) <= 2:
					w[i] = z
				default:
					w[i], again = float32(math.NaN()), true
				}
			}
		}
		for i := range w {
			w[i] /= float32(math.Sqrt(float64(in)) / scale)
		}
	}
}
