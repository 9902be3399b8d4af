package envs

import (
	"math"
	"testing"
)

func TestToleranceAtBoundsAndMargin(t *testing.T) {
	for s := gaussian; s <= tanhSquared; s++ {
		f := tolerance{lower: -1, upper: 2, margin: 0.5, atMargin: 0.3, sigmoid: s}
		for x, want := range map[float64]float64{-1: 1, 0: 1, 2: 1, -1.5: 0.3, 2.5: 0.3} {
			if got := f.of(x); math.Abs(got-want) > 1e-12 {
				t.Errorf("sigmoid %d at %v: %v, want %v", s, x, got, want)
			}
		}
		last := 1.0
		for d := 0.0; d < 5; d += 0.01 {
			y := f.of(2 + d)
			if !(y >= 0 && y <= last) || y != f.of(-1-d) && math.Abs(y-f.of(-1-d)) > 1e-12 {
				t.Fatalf("sigmoid %d at distance %v: %v after %v, mirrored %v", s, d, y, last, f.of(-1-d))
			}
			last = y
		}
	}
}

// TestToleranceValues compares with numbers computed by hand from the formulas.
func TestToleranceValues(t *testing.T) {
	for _, c := range []struct {
		name string
		f    tolerance
		x    float64
		want float64
	}{
		{"step inside", tolerance{lower: 0, upper: 0.025}, 0.025, 1},
		{"step outside", tolerance{lower: 0, upper: 0.025}, 0.0251, 0},
		{"half the speed", cheetahReward, 5, 0.5},
		{"backwards", cheetahReward, -3, 0},
		{"walking at 0.5 m/s", walkerMoving(1), 0.5, 0.5},
		{"walking at 0.1 m/s", walkerMoving(1), 0.1, 0.1},
		{"torso at 0.9 m", walkerStanding, 0.9, math.Pow(0.1, 0.25)}, // half a margin: v^(1/4)
		{"torso at 0.6 m", walkerStanding, 0.6, 0.1},
		{"half control", gentle, 0.5, 0.75},
		{"two half lives", tolerance{margin: 1, atMargin: 0.5, sigmoid: longTail}, 2, 0.2},
		{"reciprocal", tolerance{margin: 1, atMargin: 0.5, sigmoid: reciprocal}, 3, 0.25},
		{"cosine to zero", tolerance{margin: 1, sigmoid: cosine}, 0.5, 0.5},
		{"cosine beyond", tolerance{margin: 1, sigmoid: cosine}, 1.5, 0},
		{"hyperbolic", tolerance{margin: 1, atMargin: 1 / math.Cosh(1), sigmoid: hyperbolic}, 2, 1 / math.Cosh(2)},
		{"tanh squared", tolerance{margin: 1, atMargin: 1 - math.Tanh(1)*math.Tanh(1), sigmoid: tanhSquared}, 2, 1 - math.Tanh(2)*math.Tanh(2)},
	} {
		if got := c.f.of(c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
