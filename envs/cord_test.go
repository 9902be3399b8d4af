package envs

import (
	"math"
	"testing"

	"pgrlab/envs/render"
)

// A cord reaches from one place to the other, whatever its direction.
func TestACordJoinsTwoPlaces(t *testing.T) {
	for _, to := range []render.Vec{{X: 1, Y: 3, Z: 3}, {X: 1, Y: 2, Z: 8}, {X: 1, Y: -4, Z: 3}, {X: -6, Y: 2, Z: 3}, {X: 1, Y: 2, Z: 3}} {
		from := render.Vec{X: 1, Y: 2, Z: 3}
		c := cord{shape: &render.Shape{Kind: render.Capsule}}
		f := c.span(from, to)
		end := func(s float64) render.Vec {
			h := s * c.shape.Size.Y
			return render.Vec{X: f.Pos.X + h*f.Z.X, Y: f.Pos.Y + h*f.Z.Y, Z: f.Pos.Z + h*f.Z.Z}
		}
		if d := apart(end(-1), from) + apart(end(1), to); d > 1e-12 {
			t.Errorf("to %v: the ends are %v and %v", to, end(-1), end(1))
		}
		for _, pair := range [][2]render.Vec{{f.X, f.Y}, {f.Y, f.Z}, {f.Z, f.X}} {
			a, b := pair[0], pair[1]
			if dot := a.X*b.X + a.Y*b.Y + a.Z*b.Z; math.Abs(dot) > 1e-12 || math.Abs(apart(a, render.Vec{})-1) > 1e-12 {
				t.Errorf("to %v: axes %v, %v", to, a, b)
			}
		}
	}
}

func apart(a, b render.Vec) float64 {
	d := minus(a, b)
	return math.Sqrt(d.X*d.X + d.Y*d.Y + d.Z*d.Z)
}
