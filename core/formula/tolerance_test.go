package formula

import (
	"math"
	"testing"
)

func TestToleranceAtBoundsAndMargin(t *testing.T) {
	for s := Gaussian; s <= TanhSquared; s++ {
		f := Tolerance{Lower: -1, Upper: 2, Margin: 0.5, AtMargin: 0.3, Sigmoid: s}
		for x, want := range map[float64]float64{-1: 1, 0: 1, 2: 1, -1.5: 0.3, 2.5: 0.3} {
			if got := f.Of(x); math.Abs(got-want) > 1e-12 {
				t.Errorf("sigmoid %d at %v: %v, want %v", s, x, got, want)
			}
		}
		last := 1.0
		for d := 0.0; d < 5; d += 0.01 {
			y := f.Of(2 + d)
			if !(y >= 0 && y <= last) || y != f.Of(-1-d) && math.Abs(y-f.Of(-1-d)) > 1e-12 {
				t.Fatalf("sigmoid %d at distance %v: %v after %v, mirrored %v", s, d, y, last, f.Of(-1-d))
			}
			last = y
		}
	}
}

// TestToleranceValues compares with numbers computed by hand from the formulas.
func TestToleranceValues(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Tolerance
		x    float64
		want float64
	}{
		{"step inside", Tolerance{Lower: 0, Upper: 0.025}, 0.025, 1},
		{"step outside", Tolerance{Lower: 0, Upper: 0.025}, 0.0251, 0},
		{"two half lives", Tolerance{Margin: 1, AtMargin: 0.5, Sigmoid: LongTail}, 2, 0.2},
		{"reciprocal", Tolerance{Margin: 1, AtMargin: 0.5, Sigmoid: Reciprocal}, 3, 0.25},
		{"cosine to zero", Tolerance{Margin: 1, Sigmoid: Cosine}, 0.5, 0.5},
		{"cosine beyond", Tolerance{Margin: 1, Sigmoid: Cosine}, 1.5, 0},
		{"hyperbolic", Tolerance{Margin: 1, AtMargin: 1 / math.Cosh(1), Sigmoid: Hyperbolic}, 2, 1 / math.Cosh(2)},
		{"tanh squared", Tolerance{Margin: 1, AtMargin: 1 - math.Tanh(1)*math.Tanh(1), Sigmoid: TanhSquared}, 2, 1 - math.Tanh(2)*math.Tanh(2)},
	} {
		if got := c.f.Of(c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
