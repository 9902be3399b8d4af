package nn

import (
	"math"

	"pgrlab/core/rng"
)

// Columns samples weights [in,out] whose columns each have the given norm and an independent
// direction, as normalized_columns_initializer of pathak22/noreward-rl (src/model.py) does, and
// sets biases to zero.
func Columns(norm float64) Init {
	return func(w, b []float32, in, out int, s rng.Stream) {
		s.Sub("w").FillNormal(w, 0, 0)
		clear(b)
		for column := range out {
			square := 0.0
			for i := column; i < in*out; i += out {
				square += float64(w[i]) * float64(w[i])
			}
			for i := column; i < in*out; i += out {
				w[i] = float32(float64(w[i]) * norm / math.Sqrt(square))
			}
		}
	}
}
