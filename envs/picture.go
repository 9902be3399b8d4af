package envs

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"pgrlab/envs/mujoco"
	"pgrlab/envs/render"
)

// Numbers of mjtCamLight and mjtLightType.
const (
	followsNothing = 0
	followsBody    = 1
	followsCoM     = 2
	lightFromAfar  = 1
)

// preferredCamera is the camera to use, by the prefix of a task's name, if it is not the
// model's first: DrQ-v2 (Yarats et al. 2021) shows quadrupeds from the side.
var preferredCamera = map[string]string{"quadruped-": "y"}

// endlessPlane is half the width that a plane of size 0 gets, metres.
const endlessPlane = 100

// hiddenGroup is the first of the groups that MuJoCo does not show by default.
const hiddenGroup = 3

var geomKinds = map[int32]render.Kind{ // mjtGeom
	0: render.Plane, 2: render.Sphere, 3: render.Capsule, 4: render.Ellipsoid, 5: render.Cylinder, 6: render.Box,
}

// plainColour is the default colour of a geom.
var plainColour = [4]float32{.5, .5, .5, 1}

// scene collects everything that the model shows, and records which geoms and sites are
// shown. The body is in its reference pose.
func (v *View) scene(p *physics) (*render.Scene, error) {
	s := &render.Scene{}
	for _, kind := range []mujoco.Object{mujoco.Geom, mujoco.Site} {
		if err := v.shapes(s, p.model, kind); err != nil {
			return nil, err
		}
	}
	if err := v.addCords(s, p.model); err != nil {
		return nil, err
	}
	if err := addLights(s, p); err != nil {
		return nil, err
	}
	return s, setCamera(s, p, cameraOf(v.task))
}

// figures reads arrays of a model and keeps the first error.
type figures struct {
	model *mujoco.Model
	err   error
}

func (f *figures) doubles(name string) []float64 {
	x, err := f.model.Float64s(name)
	return keep(f, x, err)
}

func (f *figures) singles(name string) []float32 {
	x, err := f.model.Float32s(name)
	return keep(f, x, err)
}

func (f *figures) whole(name string) []int32 {
	x, err := f.model.Int32s(name)
	return keep(f, x, err)
}

func (f *figures) names(kind mujoco.Object) []string {
	x, err := f.model.Names(kind)
	return keep(f, x, err)
}

// keep copies x, because the next reading may move the memory.
func keep[T any](f *figures, x []T, err error) []T {
	if f.err == nil {
		f.err = err
	}
	return slices.Clone(x)
}

// shapes adds the geoms or sites that are shown.
func (v *View) shapes(s *render.Scene, m *mujoco.Model, kind mujoco.Object) error {
	f := figures{model: m}
	of := string(kind)
	names, kinds, sizes := f.names(kind), f.whole(of+"_type"), f.doubles(of+"_size")
	groups, materials, colours := f.whole(of+"_group"), f.whole(of+"_matid"), f.singles(of+"_rgba")
	var palette []float32
	var textures []*[3]float32
	if slices.Max(append(materials, -1)) >= 0 {
		palette = f.singles("mat_rgba")
		textures = f.textures()
	}
	var boxes []float64
	if kind == mujoco.Geom {
		boxes = f.doubles("geom_aabb")
	}
	if f.err != nil {
		return f.err
	}
	for i, name := range names {
		colour := [4]float32(colours[4*i:])
		var texture *[3]float32
		if material := materials[i]; material >= 0 {
			texture = textures[material]
			if colour == plainColour {
				colour = [4]float32(palette[4*material:])
			}
		}
		if texture != nil {
			for c, x := range texture {
				colour[c] *= x
			}
		}
		shown := groups[i] < hiddenGroup && colour[3] > .5
		v.shown = append(v.shown, shown)
		if !shown {
			continue
		}
		form, known := geomKinds[kinds[i]]
		size := vec(sizes[3*i:])
		switch {
		case known:
		case boxes == nil:
			return fmt.Errorf("%s %q of form %d cannot be drawn", kind, name, kinds[i])
		default: // a mesh or a height field
			form, size = render.Box, vec(boxes[6*i+3:])
			v.centres[len(s.Shapes)] = vec(boxes[6*i:])
		}
		shape := shapeOf(form, name, size, colour)
		shape.Checker = shape.Checker || form == render.Plane && texture != nil
		s.Shapes = append(s.Shapes, shape)
	}
	return nil
}

func shapeOf(form render.Kind, name string, size render.Vec, c [4]float32) render.Shape {
	shape := render.Shape{Kind: form, Size: size, Colour: render.Vec{X: float64(c[0]), Y: float64(c[1]), Z: float64(c[2])}}
	if form == render.Plane {
		shape.Checker = name == "floor" || name == "ground"
		for _, side := range []*float64{&shape.Size.X, &shape.Size.Y} {
			if *side == 0 {
				*side = endlessPlane
			}
		}
	}
	return shape
}

// addLights adds the lights of the model, which all shine straight down.
func addLights(s *render.Scene, p *physics) error {
	f := figures{model: p.model}
	modes, kinds := f.whole("light_mode"), f.whole("light_type")
	places, offsets := f.doubles("light_pos0"), f.doubles("light_poscom0")
	diffuse, specular := f.singles("light_diffuse"), f.singles("light_specular")
	for i, mode := range modes {
		l := render.Light{
			Pos: vec(places[3*i:]), Far: kinds[i] == lightFromAfar,
			Diffuse: float64(diffuse[3*i]), Specular: float64(specular[3*i]),
		}
		if mode == followsCoM {
			l.Pos, l.Tracks = vec(offsets[3*i:]), true
		}
		s.Lights = append(s.Lights, l)
	}
	return f.err
}

// setCamera chooses the camera with the preferred name, which must have a fixed direction, or,
// without a name, the first one with a fixed direction. If none
// has, it looks from the side.
func setCamera(s *render.Scene, p *physics, preferred string) error {
	f := figures{model: p.model}
	names, modes, bodies := f.names(mujoco.Camera), f.whole("cam_mode"), f.whole("cam_bodyid")
	places, offsets := f.doubles("cam_pos0"), f.doubles("cam_poscom0")
	axes, angles := f.doubles("cam_mat0"), f.doubles("cam_fovy")
	if f.err != nil {
		return f.err
	}
	for i, mode := range modes {
		if preferred != "" && names[i] != preferred {
			continue
		}
		c := &s.Camera
		switch {
		case mode == followsCoM:
			c.Pos, c.Tracks = vec(offsets[3*i:]), true
		case mode == followsBody: // the centre of mass is never far from that body
			c.Pos, c.Tracks = minus(vec(places[3*i:]), vec(p.SubtreeCoM[3:])), true
		case mode == followsNothing && bodies[i] == 0:
			c.Pos = vec(places[3*i:])
		default:
			continue
		}
		m := axes[9*i:]
		c.Right, c.Up = render.Vec{X: m[0], Y: m[3], Z: m[6]}, render.Vec{X: m[1], Y: m[4], Z: m[7]}
		c.FovY = angles[i] * math.Pi / 180
		return nil
	}
	if preferred != "" {
		return fmt.Errorf("the model has no camera %s that keeps its direction", preferred)
	}
	return setSideCamera(s, p)
}

// setSideCamera chooses a view from the side, somewhat from above, from where the whole model is seen.
func setSideCamera(s *render.Scene, p *physics) error {
	const fovY, down, away = 45, 20, 1.5 // degrees, degrees, in extents of the model
	extent, err := p.model.Extent()
	sin, cos := math.Sincos(down * math.Pi / 180)
	s.Camera = render.Camera{
		Pos: render.Vec{Y: -away * extent * cos, Z: away * extent * sin}, Tracks: true,
		Right: render.Vec{X: 1}, Up: render.Vec{Y: sin, Z: cos}, FovY: fovY * math.Pi / 180,
	}
	return err
}

// cameraOf is the name of the camera that a task prefers; "" means the first one with a fixed
// direction.
func cameraOf(task string) string {
	for beginning, name := range preferredCamera {
		if strings.HasPrefix(task, beginning) {
			return name
		}
	}
	return ""
}

// namedCamera matches a camera in a model.
var namedCamera = regexp.MustCompile(`<camera name="([^"]*)"`)

// Camera is the name of the camera that shows the task.
func (t Task) Camera() string {
	if name := cameraOf(t.Name); name != "" {
		return name
	}
	if t.own != nil {
		return cmp.Or(t.own.Camera, "side")
	}
	if found := namedCamera.FindStringSubmatch(t.mjcf); found != nil {
		return found[1]
	}
	return ""
}

func minus(a, b render.Vec) render.Vec { return render.Vec{X: a.X - b.X, Y: a.Y - b.Y, Z: a.Z - b.Z} }
