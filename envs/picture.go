package envs

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/envs/mujoco"
	"pgrlab/envs/render"
)

// look is how the body of a task is shown: what a model's compiled figures do not
// say. The figures are those of the model files of dm_control/suite: the camera
// that its pixel tasks use and the lights.
type look struct {
	camera [3]render.Vec // place with the body at rest, the picture's x and y axis
	tracks bool          // camera and lights follow the centre of mass
	lights []render.Light
}

// looks are by the beginning of a task's name.
var looks = map[string]look{
	"cheetah-": {camera: sideways(-3, .7), tracks: true, lights: spot(2.7)},
	"walker-":  {camera: [3]render.Vec{{Y: -2, Z: 2}, {X: 1}, {Y: .5, Z: math.Sqrt(.75)}}, tracks: true, lights: spot(3.3)},
	"hopper-":  {camera: sideways(-2.8, .8), tracks: true, lights: spot(3)},
	"quadruped-": {camera: [3]render.Vec{{Y: 4, Z: 2.57}, {X: -1}, {Y: -.5, Z: 1}},
		tracks: true, lights: spot(4.57)},
	"cartpole-":    {camera: sideways(-4, 1), lights: spot(6)},
	"pendulum-":    {camera: [3]render.Vec{{Y: -1.5, Z: 2}, {X: 1}, {Y: 1, Z: 1}}, lights: spot(2)},
	"finger-":      {camera: [3]render.Vec{{Y: -1, Z: .8}, {X: 1}, {Y: 1, Z: 2}}, lights: sun},
	"ball-in-cup-": {camera: [3]render.Vec{{Y: -1, Z: .8}, {X: 1}, {Y: 1, Z: 2}}, lights: sun},
	"reacher-":     {camera: fromAbove, lights: spot(1)},
	"point-mass-":  {camera: fromAbove, lights: spot(1)},

	// Gym's bodies as the suite shows its own, on Gym's wide floor.
	"hopper-v":      {camera: sideways(-3, 1), tracks: true, lights: spot(3.25)},
	"walker2d-v":    {camera: sideways(-3, 1), tracks: true, lights: spot(3.25)},
	"halfcheetah-v": {camera: sideways(-3, .7), tracks: true, lights: spot(2.7)},
}

// lookOf finds the look with the longest matching beginning; a task without one
// is shown from the side.
func lookOf(task string) look {
	best, found := "", look{camera: sideways(-3, 1), tracks: true, lights: spot(3)}
	for beginning, l := range looks {
		if strings.HasPrefix(strings.ToLower(strings.ReplaceAll(task, "_", "-")), beginning) && len(beginning) > len(best) {
			best, found = beginning, l
		}
	}
	return found
}

// sideways looks along y.
func sideways(y, z float64) [3]render.Vec { return [3]render.Vec{{Y: y, Z: z}, {X: 1}, {Z: 1}} }

var fromAbove = [3]render.Vec{{Z: .75}, {X: 1}, {Y: 1}}

// spot is a light of MuJoCo's default kind, z above the ground with the body at
// rest.
func spot(z float64) []render.Light {
	return []render.Light{{Pos: render.Vec{Z: z}, Diffuse: .7, Specular: .3}}
}

var sun = []render.Light{{Far: true, Diffuse: .6, Specular: .3}}

// Numbers of mjtGeom.
var geomKinds = map[int32]render.Kind{
	0: render.Plane, 2: render.Sphere, 3: render.Capsule, 4: render.Ellipsoid, 5: render.Cylinder, 6: render.Box,
}

// endlessPlane is half the width that a plane of size 0 is given, metres: beyond,
// MuJoCo has its sky.
const endlessPlane = 100

// scene collects what is to be drawn, and notes which geoms and sites are.
func (v *View) scene(p *physics, l look) (*render.Scene, error) {
	s := &render.Scene{}
	for _, kind := range []mujoco.Object{mujoco.Geom, mujoco.Site} {
		if err := v.shapes(s, p, kind); err != nil {
			return nil, err
		}
	}
	up := l.camera[2]
	length := math.Sqrt(up.X*up.X + up.Y*up.Y + up.Z*up.Z)
	s.Camera = render.Camera{
		Pos: l.camera[0], Right: l.camera[1], Up: render.Vec{X: up.X / length, Y: up.Y / length, Z: up.Z / length},
		Tracks: l.tracks, FovY: math.Pi / 4, // MuJoCo's default
	}
	for _, light := range l.lights {
		light.Tracks = l.tracks
		s.Lights = append(s.Lights, light)
	}
	if l.tracks {
		rest := vec(p.SubtreeCoM[3:6])
		s.Camera.Pos = minus(s.Camera.Pos, rest)
		for i := range s.Lights {
			s.Lights[i].Pos = minus(s.Lights[i].Pos, rest)
		}
	}
	return s, nil
}

func minus(a, b render.Vec) render.Vec { return render.Vec{X: a.X - b.X, Y: a.Y - b.Y, Z: a.Z - b.Z} }

// shapes adds the geoms or the sites that are shown.
func (v *View) shapes(s *render.Scene, p *physics, kind mujoco.Object) error {
	prefix := string(kind)
	names, err := p.model.Names(kind)
	if err != nil {
		return err
	}
	kinds, err := p.model.Int32s(prefix + "_type")
	if err != nil {
		return err
	}
	sizes, err := p.model.Float64s(prefix + "_size")
	if err != nil {
		return err
	}
	for i, name := range names {
		colour, shown := colourOf(name)
		if kind == mujoco.Site {
			shown = shownSites[name]
		}
		v.shown = append(v.shown, shown)
		if !shown {
			continue
		}
		form, known := geomKinds[kinds[i]]
		if !known {
			return fmt.Errorf("%s %q of form %d cannot be drawn", kind, name, kinds[i])
		}
		shape := render.Shape{Kind: form, Size: vec(sizes[3*i:]), Colour: colour}
		if form == render.Plane {
			shape.Checker = name == "floor" || name == "ground"
			for _, side := range []*float64{&shape.Size.X, &shape.Size.Y} {
				if *side == 0 {
					*side = endlessPlane
				}
			}
		}
		s.Shapes = append(s.Shapes, shape)
	}
	return nil
}

// shownSites are the sites that are more than the place of a sensor.
var shownSites = map[string]bool{"target": true, "tip": true, "pupil_l": true, "pupil_r": true}

// colourOf is the material of dm_control's models by the name of a geom or site.
func colourOf(name string) (colour render.Vec, shown bool) {
	switch {
	case name == "target" || name == "tip":
		return render.Target, true
	case name == "finger" || name == "fingertip" || name == "mass" || name == "ball" || strings.HasPrefix(name, "toe"):
		return render.Effector, true
	case name == "base" || name == "root" || strings.HasSuffix(name, "_decoration"):
		return render.Decoration, true
	case strings.HasPrefix(name, "wall") || strings.HasPrefix(name, "rail"):
		return render.Decoration, true
	case strings.HasPrefix(name, "pupil"):
		return render.Eye, true
	}
	return render.Self, true
}
