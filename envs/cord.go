package envs

import (
	"math"

	"pgrlab/envs/mujoco"
	"pgrlab/envs/render"
)

// wrapSite is mjWRAP_SITE: a tendon's path goes through a site.
const wrapSite = 3

// cord is the straight part of a tendon between two sites.
type cord struct {
	from, to int // sites
	shape    *render.Shape
}

// addCords adds the tendons that run through sites. Tendons of joints are not visible.
func (v *View) addCords(s *render.Scene, m *mujoco.Model) error {
	if n, err := m.Int("ntendon"); n == 0 {
		return err
	}
	f := figures{model: m}
	first, count, groups := f.whole("tendon_adr"), f.whole("tendon_num"), f.whole("tendon_group")
	kinds, sites := f.whole("wrap_type"), f.whole("wrap_objid")
	widths, colours := f.doubles("tendon_width"), f.singles("tendon_rgba")
	if f.err != nil {
		return f.err
	}
	for i, width := range widths {
		for k := first[i]; k+1 < first[i]+count[i]; k++ {
			if groups[i] >= hiddenGroup || kinds[k] != wrapSite || kinds[k+1] != wrapSite {
				continue
			}
			v.cords = append(v.cords, cord{from: int(sites[k]), to: int(sites[k+1])})
			s.Shapes = append(s.Shapes, shapeOf(render.Capsule, "", render.Vec{X: width}, [4]float32(colours[4*i:])))
		}
	}
	for i := range v.cords { // from here on the slice of shapes does not move
		v.cords[i].shape = &s.Shapes[len(s.Shapes)-len(v.cords)+i]
	}
	return nil
}

// span stretches the cord between two points.
func (c *cord) span(from, to render.Vec) render.Frame {
	d := minus(to, from)
	length := math.Sqrt(d.X*d.X + d.Y*d.Y + d.Z*d.Z)
	c.shape.Size.Y = length / 2
	f := render.Frame{
		Pos: render.Vec{X: (from.X + to.X) / 2, Y: (from.Y + to.Y) / 2, Z: (from.Z + to.Z) / 2},
		X:   render.Vec{X: 1}, Y: render.Vec{Y: 1}, Z: render.Vec{Z: 1},
	}
	if length == 0 {
		return f
	}
	// Any two directions across the cord will do, because it is round.
	z := render.Vec{X: d.X / length, Y: d.Y / length, Z: d.Z / length}
	x := render.Vec{X: 1}
	if flat := math.Hypot(z.X, z.Z); flat > 1e-9 {
		x = render.Vec{X: z.Z / flat, Z: -z.X / flat}
	}
	f.X, f.Z = x, z
	f.Y = render.Vec{X: z.Y*x.Z - z.Z*x.Y, Y: z.Z*x.X - z.X*x.Z, Z: z.X*x.Y - z.Y*x.X}
	return f
}
