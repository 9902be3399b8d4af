package analysis

import (
	"math"
	"testing"
)

func TestSpearman(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name string
		a, b []float32
		want float64
	}{
		{"the same order", []float32{1, 2, 30}, []float32{-5, 0, 0.1}, 1},
		{"the reverse", []float32{1, 2, 30}, []float32{3, 2, 1}, -1},
		// The value by hand, without ties, is 1 − 6Σd²/(n(n²−1)) with d = 0 1 −1 0.
		{"one swap of four", []float32{1, 2, 3, 4}, []float32{1, 3, 2, 4}, 0.8},
		// The ranks are 0, 1.5, 1.5, 3 and 0, 1, 2, 3, which gives 4.5/√(4.5·5).
		{"a tie", []float32{1, 2, 2, 3}, []float32{1, 2, 3, 4}, 4.5 / math.Sqrt(4.5*5)},
		{"a constant", []float32{1, 1}, []float32{1, 2}, math.NaN()},
		{"one row", []float32{1}, []float32{2}, math.NaN()},
		{"a NaN", []float32{1, nan}, []float32{1, 2}, math.NaN()},
	} {
		got := Spearman(c.a, c.b)
		if math.Abs(got-c.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTopOverlap(t *testing.T) {
	a := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	for _, c := range []struct {
		name     string
		b        []float32
		fraction float64
		want     float64
	}{
		{"the same", a, 0.25, 1},
		{"one of two", []float32{9, 1, 2, 3, 4, 5, 6, 7}, 0.25, 0.5},
		{"the reverse", []float32{7, 6, 5, 4, 3, 2, 1, 0}, 0.25, 0},
		{"all rows", []float32{7, 6, 5, 4, 3, 2, 1, 0}, 1, 1},
		{"at least one row", a, 0.01, 1},
	} {
		if got := TopOverlap(a, c.b, c.fraction); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if !math.IsNaN(TopOverlap(nil, nil, 0.5)) {
		t.Error("an overlap of nothing is a number")
	}
}

func TestBounds(t *testing.T) {
	b := NewBounds(2)
	if !b.Outside([]float32{0, 0}, 0, 2) {
		t.Error("a row lies within no bounds")
	}
	b.Add([]float32{-1, 5, 99})
	b.Add([]float32{1, 5, -99})
	for _, c := range []struct {
		row        []float32
		first, end int
		want       bool
	}{
		{[]float32{0, 5}, 0, 2, false},
		{[]float32{-1, 5}, 0, 2, false},
		{[]float32{1.00001, 5.00001}, 0, 2, false}, // the normaliser's slack
		{[]float32{1.001, 5}, 0, 2, true},
		{[]float32{1.001, 5}, 1, 2, false},
		{[]float32{0, 5.1}, 1, 2, true},
		{[]float32{float32(math.NaN()), 5}, 0, 1, true},
	} {
		if got := b.Outside(c.row, c.first, c.end); got != c.want {
			t.Errorf("%v from %d to %d: outside is %v", c.row, c.first, c.end, got)
		}
	}
}

func TestHowFarARowLiesOutside(t *testing.T) {
	b := NewBounds(3)
	b.Add([]float32{-1, 0, 5})
	b.Add([]float32{1, 4, 5})
	s := Scatter{Mean: []float64{0, 2, 5}, Variance: []float64{1, 4, 0}}
	for _, c := range []struct {
		row        []float32
		first, end int
		want       float64
	}{
		{[]float32{1, 0, 5}, 0, 3, 0},
		{[]float32{4, -8, 5}, 0, 3, 4}, // 3 and 8/2 deviations
		{[]float32{4, -8, 5}, 0, 1, 3},
		{[]float32{0, 1, 50}, 0, 3, 0}, // the last column never changes
		{[]float32{float32(math.NaN()), 5, 5}, 0, 2, 0.5},
	} {
		if got := b.Beyond(c.row, c.first, c.end, s); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v from %d to %d: %v deviations outside, want %v", c.row, c.first, c.end, got, c.want)
		}
	}
}

// Rows that tie for the last places share them, wherever they stand.
func TestTopOverlapOfTies(t *testing.T) {
	zeros := make([]float32, 8)
	for _, b := range [][]float32{{0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}} {
		if got := TopOverlap(zeros, b, 0.25); got != 0.25 {
			t.Errorf("%v, want 0.25", got)
		}
	}
}
