package chart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLogarithmicAxis(t *testing.T) {
	c := Chart{Log: true, Series: []Series{{Points: []Point{{0, 1}, {1, 0}, {2, 10}, {3, -5}, {4, 1000}}, Draw: Dots}}}
	text := strings.Join(c.Lines(60, 14), "\n")
	if n := strings.Count(text, "●"); n != 3 {
		t.Errorf("%d dots for three positive values:\n%s", n, text)
	}
	if !strings.Contains(text, "1000 ┤") || !strings.Contains(text, " 10 ┤") {
		t.Errorf("no powers of ten on the axis:\n%s", text)
	}
}

// A labelled row stands for exactly its label, and the range is covered.
func TestScaleIsRoundAndCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		lo := r.NormFloat64() * math.Pow(10, float64(r.IntN(8)-3))
		hi := lo + r.Float64()*math.Pow(10, float64(r.IntN(8)-3))
		rows := 2 + r.IntN(60)
		s := newScale(lo, hi, rows)
		if s.rowOf(lo) < -nearest-1e-3 || s.rowOf(hi) > float64(rows-1)+nearest+1e-3 {
			t.Fatalf("[%v, %v] in %d rows: rows %v to %v of %+v", lo, hi, rows, s.rowOf(lo), s.rowOf(hi), s)
		}
		if k := s.low / s.step; rows >= 8 && math.Abs(k-math.Round(k)) > 1e-6*math.Max(1, math.Abs(k)) {
			t.Fatalf("lowest label %v is no multiple of %v", s.low, s.step)
		}
	}
}

func TestFormatValue(t *testing.T) {
	for _, c := range []struct {
		v, step float64
		want    string
	}{
		{0.025, 0.025, "0.025"}, {0.05, 0.025, "0.050"}, {800, 200, "800"}, {-1e-9, 1, "0"},
		{1e-17, 0.1, "0.0"}, {250_000, 50_000, "250k"}, {1.5e6, 5e5, "1.5M"}, {3e-7, 1e-7, "3.0e-07"},
	} {
		if got := FormatValue(c.v, c.step); got != c.want {
			t.Errorf("FormatValue(%v, %v) = %q, want %q", c.v, c.step, got, c.want)
		}
	}
}

// Labels of different rows, and of different ticks, differ.
func TestLabelsDiffer(t *testing.T) {
	for _, r := range [][2]float64{{0.1001, 0.1002}, {0.0011, 0.0013}, {0.019714922, 0.020454446}} {
		seen := map[string]bool{}
		for _, l := range newScale(r[0], r[1], 10).labels(FormatValue) {
			if l != "" && seen[l] {
				t.Errorf("%v: %s stands there twice", r, l)
			}
			seen[l] = true
		}
	}
	var c Chart
	for _, r := range [][2]float64{{2_341_932, 2_345_004}, {1_065_625, 1_100_000}, {3_000_000, 9_000_000}} {
		seen := map[string]bool{}
		for _, v := range roundTicks(r[0], r[1], 8) {
			l := c.formatX(v)
			if seen[l] {
				t.Errorf("%v: %s stands there twice", r, l)
			}
			seen[l] = true
		}
	}
}
