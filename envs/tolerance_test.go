package envs

import (
	"math"
	"testing"
)

// TestRewardShapes compares with numbers computed by hand.
func TestRewardShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		f    tolerance
		x    float64
		want float64
	}{
		{"half the speed", cheetahReward, 5, 0.5},
		{"backwards", cheetahReward, -3, 0},
		{"walking at 0.5 m/s", walkerMoving(1), 0.5, 0.5},
		{"walking at 0.1 m/s", walkerMoving(1), 0.1, 0.1},
		{"torso at 0.9 m", walkerStanding, 0.9, math.Pow(0.1, 0.25)}, // half a margin: v^(1/4)
		{"torso at 0.6 m", walkerStanding, 0.6, 0.1},
		{"half control", gentle, 0.5, 0.75},
	} {
		if got := c.f.Of(c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
