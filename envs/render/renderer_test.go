package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// frontal looks along y from 4 m away.
func frontal() Camera {
	return Camera{Pos: Vec{0, -4, 1}, Right: Vec{1, 0, 0}, Up: Vec{0, 0, 1}, FovY: math.Pi / 4}
}

var level = Frame{X: Vec{1, 0, 0}, Y: Vec{0, 1, 0}, Z: Vec{0, 0, 1}}

func at(p Vec) Frame {
	f := level
	f.Pos = p
	return f
}

func randomFrame(r *rand.Rand) Frame {
	f := Frame{Pos: randomVec(r).add(Vec{0, 0, 1}), Z: randomVec(r).unit()}
	f.X = f.Z.cross(randomVec(r)).unit()
	f.Y = f.Z.cross(f.X)
	return f
}

// crowd is a scene with every form, and frames for it.
func crowd(r *rand.Rand, of int) (*Scene, []Frame) {
	s := &Scene{Camera: frontal(), Lights: []Light{{Pos: Vec{0, 0, 4}, Diffuse: .7, Specular: .3}, {Far: true, Diffuse: .3}}}
	s.Shapes = append(s.Shapes, Shape{Kind: Plane, Size: Vec{5, 5, .5}, Checker: true})
	frames := []Frame{level}
	for i := range of {
		s.Shapes = append(s.Shapes, randomShape(r, 1+Kind(i%5)))
		frames = append(frames, randomFrame(r))
	}
	return s, frames
}

// Each pixel shows the shape that a ray meets first among all shapes: no shape is cut off by the
// rectangle in which it is drawn.
func TestEveryPixelShowsTheNearestShape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		scene, frames := crowd(r, 5)
		w, h := 5+r.IntN(60), 5+r.IntN(60)
		x := New(scene)
		x.Draw(frames, Vec{}, w, h)
		for i, got := range x.owner {
			d := x.ray(float64(i%w)+.5, float64(i/w)+.5)
			nearest, want := never, none
			for k := range frames {
				if t := scene.Shapes[k].hit(frames[k].point(x.eye), frames[k].vector(d), 0); t < nearest-1e-9 {
					nearest, want = t, k
				}
			}
			if int(got) != want && math.Abs(x.depth[i]-nearest) > 1e-6 {
				t.Fatalf("%dx%d, pixel %d,%d shows shape %d at %g, want %d at %g", w, h, i%w, i/w, got, x.depth[i], want, nearest)
			}
		}
	}
}

// A capsule whose ends lie beside the picture, or behind the eye, is drawn where it crosses it.
func TestAShapeThatIsLongerThanThePicture(t *testing.T) {
	for name, lies := range map[string]Frame{
		"across":  {Pos: Vec{0, 0, 1}, X: Vec{0, 0, 1}, Y: Vec{0, -1, 0}, Z: Vec{1, 0, 0}},
		"upright": {Pos: Vec{0, 0, 1}, X: Vec{1, 0, 0}, Y: Vec{0, 1, 0}, Z: Vec{0, 0, 1}},
		"along":   {Pos: Vec{0, 0, .9}, X: Vec{1, 0, 0}, Y: Vec{0, 0, -1}, Z: Vec{0, 1, 0}},
	} {
		for _, reach := range []float64{1.5, 4, 40} {
			x := New(&Scene{Camera: frontal(), Shapes: []Shape{{Kind: Capsule, Size: Vec{X: .05, Y: reach}, Colour: Self}}})
			x.Draw([]Frame{lies}, Vec{}, 40, 40)
			for i, got := range x.owner {
				d := x.ray(float64(i%40)+.5, float64(i/40)+.5)
				hit := x.scene.Shapes[0].hit(lies.point(x.eye), lies.vector(d), 0) < never
				if hit != (got == 0) {
					t.Fatalf("%s, ±%g: pixel %d,%d shows %d, a ray hits: %v", name, reach, i%40, i/40, got, hit)
				}
			}
		}
	}
}

func brightness(x *Renderer, px, py int) int {
	c := x.image.RGBAAt(px, py)
	return int(c.R) + int(c.G) + int(c.B)
}

func TestAShapeCastsAShadow(t *testing.T) {
	for name, l := range map[string]Light{"spot": {Pos: Vec{0, 0, 4}, Diffuse: .7}, "far": {Far: true, Diffuse: .7}} {
		t.Run(name, func(t *testing.T) { castsAShadow(t, l) })
	}
}

func castsAShadow(t *testing.T, l Light) {
	// The scene is a floor without reflection and a ball over the origin.
	scene := &Scene{
		Camera: Camera{Pos: Vec{0, -3, 3}, Right: Vec{1, 0, 0}, Up: Vec{0, 1, 1}.unit(), FovY: math.Pi / 4},
		Shapes: []Shape{{Kind: Plane, Size: Vec{5, 5, .1}, Colour: Vec{.2, .2, .5}}, {Kind: Sphere, Size: Vec{X: .2}, Colour: Self}},
		Lights: []Light{l},
	}
	x := New(scene)
	x.Draw([]Frame{level, at(Vec{0, 0, .7})}, Vec{}, 100, 100)
	px, py := 50, 50
	if x.owner[py*100+px] != 0 {
		t.Fatalf("the origin is hidden by shape %d", x.owner[py*100+px])
	}
	dark := brightness(x, px, py)
	x.Draw([]Frame{level, at(Vec{9, 9, .7})}, Vec{}, 100, 100)
	if lit := brightness(x, px, py); dark >= lit*7/10 {
		t.Errorf("in the shadow %d, without it %d", dark, lit)
	}
}

func TestAFloorOfSquaresMirrors(t *testing.T) {
	scene := &Scene{Camera: frontal(), Shapes: []Shape{
		{Kind: Plane, Size: Vec{5, 5, .5}, Checker: true}, {Kind: Sphere, Size: Vec{X: .3}, Colour: Vec{1, 0, 0}},
	}}
	x := New(scene)
	// The point lies where the line from the eye to the ball's mirror image meets the floor.
	ball := Vec{0, 0, .6}
	place := x.forward.scale(4).add(Vec{0, 0, -1 - ball.Z})
	px, py := 50, 50-int(place.Z/place.Y*50/math.Tan(math.Pi/8))
	x.Draw([]Frame{level, at(Vec{0, 90, 1})}, Vec{}, 100, 100)
	without := x.Draw([]Frame{level, at(Vec{0, 90, 1})}, Vec{}, 100, 100).RGBAAt(px, py)
	with := x.Draw([]Frame{level, at(ball)}, Vec{}, 100, 100).RGBAAt(px, py)
	if x.owner[py*100+px] != 0 {
		t.Fatalf("pixel %d,%d shows shape %d", px, py, x.owner[py*100+px])
	}
	if more := int(with.R) - int(without.R); more < 30 || more > 90 || with.B > without.B+10 { // the gloss is white
		t.Errorf("with the red ball %v, without it %v", with, without)
	}
}

func TestCameraAndLightFollow(t *testing.T) {
	scene := &Scene{
		Camera: frontal(), Lights: []Light{{Pos: Vec{0, 0, 3}, Tracks: true, Diffuse: .7}},
		Shapes: []Shape{{Kind: Capsule, Size: Vec{X: .2, Y: .5}, Colour: Self}},
	}
	scene.Camera.Tracks = true
	x := New(scene)
	here := slices.Clone(x.Draw([]Frame{at(Vec{0, 0, 1})}, Vec{}, 60, 40).Pix)
	there := x.Draw([]Frame{at(Vec{8, 1, 2})}, Vec{8, 1, 1}, 60, 40).Pix
	for i := range here {
		if d := int(here[i]) - int(there[i]); d < -1 || d > 1 {
			t.Fatalf("byte %d is %d there and %d here", i, there[i], here[i])
		}
	}
}

func TestAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scene, frames := crowd(r, 10)
	x := New(scene)
	for _, size := range [][2]int{{1, 1}, {1, 200}, {200, 1}, {84, 84}, {160, 90}, {3, 7}} {
		img := x.Draw(frames, Vec{}, size[0], size[1])
		if img.Rect.Dx() != size[0] || img.Rect.Dy() != size[1] {
			t.Errorf("asked for %v, got %v", size, img.Rect)
		}
		for i := 3; i < len(img.Pix); i += 4 {
			if img.Pix[i] != 255 {
				t.Fatalf("%v: a pixel was not painted", size)
			}
		}
	}
	if img := x.Draw(frames, Vec{}, 0, 5); img != nil {
		t.Errorf("no columns: %v", img.Rect)
	}
}

func TestDrawingAllocatesNothing(t *testing.T) {
	scene, frames := crowd(rand.New(rand.NewPCG(5, 6)), 10)
	x := New(scene)
	x.Draw(frames, Vec{}, 84, 84)
	if n := testing.AllocsPerRun(5, func() { x.Draw(frames, Vec{}, 84, 84) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	scene, frames := crowd(rand.New(rand.NewPCG(5, 6)), 10)
	x := New(scene)
	b.ReportAllocs()
	for b.Loop() {
		x.Draw(frames, Vec{}, 84, 84)
	}
}

// A model may have any number of lights.
func TestAnyNumberOfLights(t *testing.T) {
	s, frames := crowd(rand.New(rand.NewPCG(1, 2)), 2)
	for range 5 {
		s.Lights = append(s.Lights, Light{Pos: Vec{0, 0, 4}, Diffuse: .1})
	}
	if New(s).Draw(frames, Vec{}, 20, 20) == nil {
		t.Error("nothing is drawn")
	}
}
