package render

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inside is negative inside a shape, zero on its surface and positive outside. It is the slow,
// obvious form of every shape, in the shape's own frame.
func inside(s *Shape, p Vec) float64 {
	switch s.Kind {
	case Plane:
		return p.Z
	case Sphere:
		return p.norm() - s.Size.X
	case Capsule:
		return p.sub(Vec{0, 0, max(-s.Size.Y, min(p.Z, s.Size.Y))}).norm() - s.Size.X
	case Ellipsoid:
		return Vec{p.X / s.Size.X, p.Y / s.Size.Y, p.Z / s.Size.Z}.norm() - 1
	case Cylinder:
		return max(math.Hypot(p.X, p.Y)-s.Size.X, math.Abs(p.Z)-s.Size.Y)
	default:
		return max(math.Abs(p.X)-s.Size.X, math.Abs(p.Y)-s.Size.Y, math.Abs(p.Z)-s.Size.Z)
	}
}

var forms = map[string]Kind{
	"plane": Plane, "sphere": Sphere, "capsule": Capsule, "ellipsoid": Ellipsoid, "cylinder": Cylinder, "box": Box,
}

func randomVec(r *rand.Rand) Vec { return Vec{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()} }

func randomShape(r *rand.Rand, k Kind) Shape {
	return Shape{Kind: k, Size: Vec{.2 + r.Float64(), .2 + r.Float64(), .2 + r.Float64()}, Colour: Vec{r.Float64(), r.Float64(), r.Float64()}}
}

// Rays end on the surface and meet nothing before it; the test walks along them in small steps.
func TestRaysEndOnTheNearestSurface(t *testing.T) {
	const far, step = 8, 1e-3
	for name, kind := range forms {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(kind)))
			hits := 0
			for range 300 {
				s := randomShape(r, kind)
				o, d := randomVec(r).unit().scale(3), randomVec(r).unit()
				if r.IntN(4) > 0 { // most of them towards the shape
					d = randomVec(r).scale(.4).sub(o).unit()
				}
				got := s.hit(o, d, 0)
				if got < never {
					hits++
					if off := inside(&s, o.along(got, d)); math.Abs(off) > 1e-9 {
						t.Fatalf("%+v from %v along %v: the end is %g off the surface", s, o, d, off)
					}
				}
				side := inside(&s, o)
				for x := 0.; x < min(got-2*step, far); x += step {
					p := o.along(x, d)
					if kind == Plane && max(math.Abs(p.X)-s.Size.X, math.Abs(p.Y)-s.Size.Y) > -.01 {
						side = inside(&s, p) // a plane ends, and a ray can pass beside it
					}
					// The steps, too, miss a chord shorter than the surface is thick.
					if now := inside(&s, p); now*side < 0 && math.Abs(now) > 1e-6 {
						t.Fatalf("%+v from %v along %v: goes through the surface at %g, said %g", s, o, d, x, got)
					}
				}
			}
			if hits < 50 {
				t.Errorf("%d of 300 rays hit", hits)
			}
		})
	}
}

// The normal is the gradient, computed here by central differences.
func TestNormalsAreGradients(t *testing.T) {
	const h = 1e-6
	for name, kind := range forms {
		r := rand.New(rand.NewPCG(8, uint64(kind)))
		for range 100 {
			s := randomShape(r, kind)
			o := randomVec(r).unit().scale(3)
			o.Z = math.Abs(o.Z)
			d := randomVec(r).scale(.2).sub(o).unit()
			at := s.hit(o, d, 0)
			if at == never {
				continue
			}
			p := o.along(at, d)
			want := Vec{
				inside(&s, p.add(Vec{h, 0, 0})) - inside(&s, p.sub(Vec{h, 0, 0})),
				inside(&s, p.add(Vec{0, h, 0})) - inside(&s, p.sub(Vec{0, h, 0})),
				inside(&s, p.add(Vec{0, 0, h})) - inside(&s, p.sub(Vec{0, 0, h})),
			}.unit()
			if got := s.normal(p); got.sub(want).norm() > 1e-4 { // the step h matters where the form changes from part to part
				t.Fatalf("%s %+v at %v: normal %v, want %v", name, s, p, got, want)
			}
		}
	}
}

func TestStripesAndMarksAreMeans(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 50 {
		x, w := 6*r.Float64()-3, .01+3*r.Float64()
		const n = 20_000
		wave, mark := 0., 0.
		for i := range n {
			at := x + w*((float64(i)+.5)/n-.5)
			wave += 1 - 2*math.Abs(math.Mod(math.Floor(at), 2))
			if math.Abs(at-1-2*math.Round((at-1)/2)) < checkerMark {
				mark++
			}
		}
		if got := stripes(x, w); math.Abs(got-wave/n) > 1e-3 {
			t.Errorf("stripes(%g, %g) = %g, want %g", x, w, got, wave/n)
		}
		if got := marks(x, w); w < 1 && math.Abs(got-mark/n) > 1e-3 {
			t.Errorf("marks(%g, %g) = %g, want %g", x, w, got, mark/n)
		}
	}
}
