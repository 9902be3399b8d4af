package render

import "math"

// Vec is a point, a direction or a colour. Lengths are metres; colours are red,
// green, blue in [0,1].
type Vec struct{ X, Y, Z float64 }

func (a Vec) add(b Vec) Vec              { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }
func (a Vec) sub(b Vec) Vec              { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }
func (a Vec) scale(s float64) Vec        { return Vec{s * a.X, s * a.Y, s * a.Z} }
func (a Vec) dot(b Vec) float64          { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }
func (a Vec) along(t float64, d Vec) Vec { return Vec{a.X + t*d.X, a.Y + t*d.Y, a.Z + t*d.Z} }
func (a Vec) norm() float64              { return math.Sqrt(a.dot(a)) }
func (a Vec) unit() Vec                  { return a.scale(1 / a.norm()) }

func (a Vec) cross(b Vec) Vec {
	return Vec{a.Y*b.Z - a.Z*b.Y, a.Z*b.X - a.X*b.Z, a.X*b.Y - a.Y*b.X}
}

// Frame is the position of a shape: its centre and the axes of its own coordinates in
// the world, all of length 1.
type Frame struct {
	Pos     Vec
	X, Y, Z Vec
}

// point and vector convert from world to frame coordinates.
func (f *Frame) point(p Vec) Vec  { return f.vector(p.sub(f.Pos)) }
func (f *Frame) vector(v Vec) Vec { return Vec{v.dot(f.X), v.dot(f.Y), v.dot(f.Z)} }

// world converts a vector from frame to world coordinates.
func (f *Frame) world(v Vec) Vec {
	return f.X.scale(v.X).along(v.Y, f.Y).along(v.Z, f.Z)
}
