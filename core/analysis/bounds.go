package analysis

import "math"

// Bounds hold the least and the largest value of each column of the added rows.
type Bounds struct{ Low, High []float32 }

// NewBounds returns empty bounds: every row is outside.
func NewBounds(width int) Bounds {
	b := Bounds{Low: make([]float32, width), High: make([]float32, width)}
	for i := range width {
		b.Low[i], b.High[i] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
	return b
}

// Add widens the bounds to hold a row. Columns beyond the width do not count.
func (b Bounds) Add(row []float32) {
	low, high := b.Low, b.High[:len(b.Low)]
	for i, v := range row[:len(low)] {
		// Comparisons are faster than min and max, which check for NaNs and signed zeros;
		// rows come by the hundred thousand.
		if v < low[i] {
			low[i] = v
		}
		if v > high[i] {
			high[i] = v
		}
	}
}

// Outside says whether one of the columns first ≤ i < end of a row leaves the
// bounds by more than the rounding of a generator's normalisation: min-max maps the
// largest value + 1e-5 to 1 (renwang435/pgr: synther/diffusion/norm.py). A NaN is
// outside.
func (b Bounds) Outside(row []float32, first, end int) bool {
	for i := first; i < end; i++ {
		v, low, high := float64(row[i]), float64(b.Low[i]), float64(b.High[i])
		slack := 2e-5 + 1e-6*math.Max(math.Abs(low), math.Abs(high))
		if !(v >= low-slack && v <= high+slack) {
			return true
		}
	}
	return false
}

// Beyond returns how far the furthest of the columns first ≤ i < end of a row lies outside the
// bounds, in standard deviations of s; 0 if none does. Columns without a deviation, and NaNs, do
// not count.
func (b Bounds) Beyond(row []float32, first, end int, s Scatter) float64 {
	furthest := 0.0
	for i := first; i < end; i++ {
		v := float64(row[i])
		out := max(float64(b.Low[i])-v, v-float64(b.High[i]))
		if out > 0 && s.Variance[i] > 0 {
			furthest = max(furthest, out/math.Sqrt(s.Variance[i]))
		}
	}
	return furthest
}
