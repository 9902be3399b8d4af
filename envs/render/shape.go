package render

import "math"

// never is the distance that stands for no hit.
const never = math.MaxFloat64

// hit is the distance along the ray o + t·d, in the shape's frame, to the shape's first
// point at t > from; never if there is none. d need not have length 1.
func (s *Shape) hit(o, d Vec, from float64) float64 {
	switch s.Kind {
	case Plane:
		return s.hitPlane(o, d, from)
	case Sphere:
		return hitBall(o, d, s.Size.X, from)
	case Capsule:
		return s.hitCapsule(o, d, from)
	case Ellipsoid:
		scaled := func(v Vec) Vec { return Vec{v.X / s.Size.X, v.Y / s.Size.Y, v.Z / s.Size.Z} }
		return hitBall(scaled(o), scaled(d), 1, from)
	case Cylinder:
		return s.hitCylinder(o, d, from)
	default:
		return s.hitBox(o, d, from)
	}
}

func (s *Shape) hitPlane(o, d Vec, from float64) float64 {
	t := -o.Z / d.Z
	if !(t > from) || math.Abs(o.X+t*d.X) > s.Size.X || math.Abs(o.Y+t*d.Y) > s.Size.Y {
		return never
	}
	return t
}

// roots returns the distances at which a·t² + 2·b·t + c is 0.
func roots(a, b, c float64) (near, far float64, ok bool) {
	h := b*b - a*c
	if h < 0 || a == 0 {
		return 0, 0, false
	}
	h = math.Sqrt(h)
	return (-b - h) / a, (-b + h) / a, true
}

// first is the smaller distance that is greater than from.
func first(near, far, from float64) float64 {
	switch {
	case near > from:
		return near
	case far > from:
		return far
	}
	return never
}

func hitBall(o, d Vec, r, from float64) float64 {
	near, far, ok := roots(d.dot(d), o.dot(d), o.dot(o)-r*r)
	if !ok {
		return never
	}
	return first(near, far, from)
}

// hitCapsule meets the side, or else the ball at the end where the ray leaves it.
func (s *Shape) hitCapsule(o, d Vec, from float64) float64 {
	r, h := s.Size.X, s.Size.Y
	near, _, ok := roots(d.X*d.X+d.Y*d.Y, o.X*d.X+o.Y*d.Y, o.X*o.X+o.Y*o.Y-r*r)
	if ok && near > from && math.Abs(o.Z+near*d.Z) <= h {
		return near
	}
	if !ok && d.X*d.X+d.Y*d.Y > 0 {
		return never // misses the endless cylinder
	}
	above := hitBall(Vec{o.X, o.Y, o.Z - h}, d, r, from)
	return min(above, hitBall(Vec{o.X, o.Y, o.Z + h}, d, r, from))
}

func (s *Shape) hitCylinder(o, d Vec, from float64) float64 {
	r, h := s.Size.X, s.Size.Y
	best := never
	near, _, ok := roots(d.X*d.X+d.Y*d.Y, o.X*d.X+o.Y*d.Y, o.X*o.X+o.Y*o.Y-r*r)
	if ok && near > from && math.Abs(o.Z+near*d.Z) <= h {
		best = near
	}
	for _, z := range [2]float64{-h, h} {
		t := (z - o.Z) / d.Z
		x, y := o.X+t*d.X, o.Y+t*d.Y
		if t > from && t < best && x*x+y*y <= r*r {
			best = t
		}
	}
	return best
}

// hitBox intersects the ray with three slabs.
func (s *Shape) hitBox(o, d Vec, from float64) float64 {
	near, far := math.Inf(-1), math.Inf(1)
	slab := func(o, d, size float64) {
		a, b := (-size-o)/d, (size-o)/d
		near, far = max(near, min(a, b)), min(far, max(a, b))
	}
	slab(o.X, d.X, s.Size.X)
	slab(o.Y, d.Y, s.Size.Y)
	slab(o.Z, d.Z, s.Size.Z)
	if !(near <= far) {
		return never
	}
	return first(near, far, from)
}

// normal is the outward direction of the surface at p, in the shape's frame.
func (s *Shape) normal(p Vec) Vec {
	switch s.Kind {
	case Plane:
		return Vec{0, 0, 1}
	case Sphere:
		return p.unit()
	case Capsule:
		return Vec{p.X, p.Y, p.Z - max(-s.Size.Y, min(p.Z, s.Size.Y))}.unit()
	case Ellipsoid:
		return Vec{p.X / (s.Size.X * s.Size.X), p.Y / (s.Size.Y * s.Size.Y), p.Z / (s.Size.Z * s.Size.Z)}.unit()
	case Cylinder:
		if side := math.Hypot(p.X, p.Y) / s.Size.X; side > math.Abs(p.Z)/s.Size.Y {
			return Vec{p.X, p.Y, 0}.unit()
		}
		return Vec{0, 0, math.Copysign(1, p.Z)}
	default:
		x, y, z := math.Abs(p.X)/s.Size.X, math.Abs(p.Y)/s.Size.Y, math.Abs(p.Z)/s.Size.Z
		switch {
		case x > y && x > z:
			return Vec{math.Copysign(1, p.X), 0, 0}
		case y > z:
			return Vec{0, math.Copysign(1, p.Y), 0}
		}
		return Vec{0, 0, math.Copysign(1, p.Z)}
	}
}

// bounds returns two balls, around the points ±reach on the frame's axis, whose hull
// contains the shape.
func (s *Shape) bounds() (reach, radius float64) {
	switch s.Kind {
	case Sphere:
		return 0, s.Size.X
	case Capsule:
		return s.Size.Y, s.Size.X
	case Cylinder:
		return s.Size.Y, s.Size.X
	case Ellipsoid:
		return 0, max(s.Size.X, s.Size.Y, s.Size.Z)
	case Box:
		return 0, s.Size.norm()
	default:
		return 0, math.Inf(1)
	}
}
