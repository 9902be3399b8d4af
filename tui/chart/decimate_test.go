package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDecimateKeepsExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		points := make([]Point, 1+r.IntN(3000))
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range points {
			points[i] = Point{float64(i), r.NormFloat64()}
			lo, hi = math.Min(lo, points[i].Y), math.Max(hi, points[i].Y)
		}
		columns := Decimate(points, 0, float64(len(points)-1), 1+r.IntN(120))
		gotLo, gotHi, n := math.Inf(1), math.Inf(-1), 0
		for _, c := range columns {
			n += c.N
			if c.N > 0 {
				gotLo, gotHi = math.Min(gotLo, c.Min), math.Max(gotHi, c.Max)
			}
			if math.IsNaN(c.Value) {
				t.Fatalf("a gap in gapless data: %+v", c)
			}
		}
		if gotLo != lo || gotHi != hi || n != len(points) {
			t.Fatalf("%d points in %d columns: min %v max %v n %d, want %v %v %d", len(points), len(columns), gotLo, gotHi, n, lo, hi, len(points))
		}
	}
}

func TestDecimateGapsAndInterpolation(t *testing.T) {
	nan := math.NaN()
	columns := Decimate([]Point{{0, 0}, {4, 8}, {5, nan}, {8, 1}, {10, 3}}, 0, 10, 11)
	want := []float64{0, 2, 4, 6, 8, nan, nan, nan, 1, 2, 3}
	for i, c := range columns {
		if c.Value != want[i] && !(math.IsNaN(c.Value) && math.IsNaN(want[i])) {
			t.Errorf("column %d: %v, want %v", i, c.Value, want[i])
		}
	}
	if columns[2].N != 0 || columns[4].N != 1 {
		t.Errorf("N counts interpolated columns: %+v", columns)
	}
}
