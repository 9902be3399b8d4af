package analysis

import "math"

// Bounds are the least and the largest value of each column of rows that were
// added.
type Bounds struct{ Low, High []float64 }

// NewBounds holds nothing: every row is outside.
func NewBounds(width int) Bounds {
	b := Bounds{Low: make([]float64, width), High: make([]float64, width)}
	for i := range width {
		b.Low[i], b.High[i] = math.Inf(1), math.Inf(-1)
	}
	return b
}

// Add widens the bounds to hold a row, whose further columns do not count.
func (b Bounds) Add(row []float32) {
	for i := range b.Low {
		v := float64(row[i])
		b.Low[i], b.High[i] = min(b.Low[i], v), max(b.High[i], v)
	}
}

// Outside says whether one of the columns first ≤ i < end of a row leaves the
// bounds, by more than a generator's normalisation rounds: min-max maps the largest
// value + 1e-5 to 1 (renwang435/pgr: synther/diffusion/norm.py). A NaN is outside.
func (b Bounds) Outside(row []float32, first, end int) bool {
	for i := first; i < end; i++ {
		v := float64(row[i])
		slack := 2e-5 + 1e-6*math.Max(math.Abs(b.Low[i]), math.Abs(b.High[i]))
		if !(v >= b.Low[i]-slack && v <= b.High[i]+slack) {
			return true
		}
	}
	return false
}
