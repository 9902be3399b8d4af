package render

import "math"

// colour is the colour of shape i at distance t along d from the eye, or of the sky if
// there is no shape. at is the pixel.
func (r *Renderer) colour(i, at int, d Vec, t float64) Vec {
	if i == none {
		return r.sky[at]
	}
	p := &r.placed[i]
	place := r.eye.along(t, d)
	if p.Kind == Plane {
		return r.plane(i, place, d, t)
	}
	n := p.world(p.normal(p.point(place)))
	return r.lit(i, p.Colour, place, n, r.eye, true)
}

// lit is the colour of a surface at place with normal n, seen from eye. Each light
// is clamped separately.
func (r *Renderer) lit(i int, colour, place, n, eye Vec, shadows bool) Vec {
	v := eye.sub(place).unit()
	diffuse, specular := r.headlight(n, v)
	sum := colour.scale(diffuse).add(Vec{specular, specular, specular})
	sum = Vec{min(sum.X, 1), min(sum.Y, 1), min(sum.Z, 1)}
	for k := range r.scene.Lights {
		diffuse, specular := r.light(k, place, n, v)
		if diffuse == 0 || shadows && r.shadowed(i, k, place, n) {
			continue
		}
		sum.X += min(colour.X*diffuse+specular, 1)
		sum.Y += min(colour.Y*diffuse+specular, 1)
		sum.Z += min(colour.Z*diffuse+specular, 1)
	}
	return sum
}

// headlight shines from afar along the camera's axis.
func (r *Renderer) headlight(n, v Vec) (diffuse, specular float64) {
	cos := -n.dot(r.forward)
	if cos <= 0 {
		return headAmbient, 0
	}
	return headAmbient + headDiffuse*cos, headSpecular * materialSpecular * gloss(n, r.forward.scale(-1), v)
}

// light is the contribution of light k to a surface with normal n.
func (r *Renderer) light(k int, place, n, v Vec) (diffuse, specular float64) {
	l := &r.scene.Lights[k]
	to, cone := Vec{0, 0, 1}, 1.
	if !l.Far {
		to = r.lights[k].sub(place).unit()
		if to.Z < spotCosine {
			return 0, 0
		}
		for range spotExponent {
			cone *= to.Z
		}
	}
	cos := n.dot(to)
	if cos <= 0 {
		return 0, 0
	}
	return cone * l.Diffuse * cos, cone * l.Specular * materialSpecular * gloss(n, to, v)
}

// gloss is Blinn's (n·h)^shininess with shininess 64.
func gloss(n, l, v Vec) float64 {
	h := l.add(v)
	cos := n.dot(h)
	if cos <= 0 {
		return 0
	}
	c := cos * cos / h.dot(h)
	for x := 2; x < materialShininess; x *= 2 {
		c *= c
	}
	return c
}

// lift is how far from a surface its shadow rays begin, metres.
const lift = .004

// shadowed says whether a shape is between a place on shape self and light k.
func (r *Renderer) shadowed(self, k int, place, n Vec) bool {
	from := place.along(lift, n)
	to, length := Vec{0, 0, 1}, never
	if !r.scene.Lights[k].Far {
		to = r.lights[k].sub(from)
		length = to.norm()
		to = to.scale(1 / length)
	}
	owner, _ := r.meet(self, from, to, length)
	return owner != none
}

// meet returns the first shape on the ray from o along d, of length 1, and its distance.
// Planes and shape self do not count.
func (r *Renderer) meet(self int, o, d Vec, within float64) (owner int, t float64) {
	owner, t = none, within
	if passes(o, d, r.middle, r.extent) {
		return owner, t
	}
	for i := range r.placed {
		p := &r.placed[i]
		if i == self || p.Kind == Plane || passes(o, d, p.Pos, p.radius) {
			continue
		}
		if x := p.hit(p.point(o), p.vector(d), 0); x < t {
			owner, t = i, x
		}
	}
	return owner, t
}

// passes says whether a ray, d of length 1, misses a ball.
func passes(o, d, centre Vec, radius float64) bool {
	c := centre.sub(o)
	along := c.dot(d)
	return along < -radius || c.dot(c)-along*along > radius*radius
}

// plane is the colour of a plane at place; t·d leads there from the eye.
func (r *Renderer) plane(i int, place, d Vec, t float64) Vec {
	p := &r.placed[i]
	at := p.point(place)
	colour := p.Colour
	if p.Checker {
		colour = r.squares(p, at, d, t)
	}
	corners := r.cell(i, at)
	intensity := corners.at(0, at)
	for k := range r.scene.Lights {
		if x := corners.at(k+1, at); x > 0 && !r.shadowed(i, k, place, p.Z) {
			intensity += x
		}
	}
	sum := colour.scale(intensity)
	if !p.Checker {
		return sum
	}
	// The mirrored bodies are added; the sky is not mirrored.
	mirrored := d.along(-2*d.dot(p.Z), p.Z).unit()
	owner, far := r.meet(i, place, mirrored, never)
	if owner == none {
		return sum
	}
	hit := &r.placed[owner]
	there := place.along(far, mirrored)
	eye := r.eye.along(-2*r.eye.sub(p.Pos).dot(p.Z), p.Z)
	n := hit.world(hit.normal(hit.point(there)))
	return sum.add(r.lit(owner, hit.Colour.scale(checkerReflects), there, n, eye, false))
}

// gridCell holds the brightness of the corners of a plane's cell by the headlight and then by each light of the
// scene: planes are lit only there.
type gridCell struct {
	shape                    int
	left, right, bottom, top float64 // in the plane's frame
	corner                   [][4]float64
}

// cell is the cell around a point. The last one is kept, because neighbouring pixels mostly
// share it.
func (r *Renderer) cell(i int, at Vec) *gridCell {
	c := &r.lastCell
	if c.shape == i && at.X >= c.left && at.X <= c.right && at.Y >= c.bottom && at.Y <= c.top {
		return c
	}
	p := &r.placed[i]
	c.shape = i
	c.left, c.right = gridLines(p.Size.X, p.Size.Z, at.X)
	c.bottom, c.top = gridLines(p.Size.Y, p.Size.Z, at.Y)
	for j, xy := range [4][2]float64{{c.left, c.bottom}, {c.right, c.bottom}, {c.left, c.top}, {c.right, c.top}} {
		place := p.Pos.add(p.world(Vec{xy[0], xy[1], 0}))
		v := r.eye.sub(place).unit()
		diffuse, specular := r.headlight(p.Z, v)
		c.corner[0][j] = min(diffuse+specular, 1)
		for k := range r.scene.Lights {
			diffuse, specular = r.light(k, place, p.Z, v)
			c.corner[k+1][j] = min(diffuse+specular, 1)
		}
	}
	return c
}

// at interpolates a light.
func (c *gridCell) at(light int, p Vec) float64 {
	x, y := (p.X-c.left)/(c.right-c.left), (p.Y-c.bottom)/(c.top-c.bottom)
	k := &c.corner[light]
	return (k[0]*(1-x)+k[1]*x)*(1-y) + (k[2]*(1-x)+k[3]*x)*y
}

// gridLines returns the lines of a plane's grid on both sides of x. The grid has an even
// number of cells of twice the spacing in the middle, and the rest on either side is a
// cell too (MuJoCo, makePlane, at most 200 lines).
func gridLines(size, spacing, x float64) (low, high float64) {
	spacing = max(spacing, size/198)
	n := math.Floor(size/spacing + 1e-9)
	n -= math.Mod(n, 2)
	inner := n * spacing
	switch {
	case x < -inner:
		return -size, -inner
	case x > inner:
		return inner, size
	case n == 0:
		return -size, size
	}
	low = -inner + math.Floor((x+inner)/(2*spacing))*2*spacing
	return low, low + 2*spacing
}

// squares is the colour of a checker at a point of plane p, averaged over a pixel.
func (r *Renderer) squares(p *placed, at, d Vec, t float64) Vec {
	// How far the point moves when the ray moves by a pixel.
	right, up := p.vector(r.scene.Camera.Right), p.vector(r.scene.Camera.Up)
	ray := p.vector(d)
	step := t / r.focal
	slide := func(v Vec) Vec { return v.along(-v.Z/ray.Z, ray).scale(step) }
	a, b := slide(right), slide(up)
	wx, wy := math.Abs(a.X)+math.Abs(b.X), math.Abs(a.Y)+math.Abs(b.Y)

	light := .5 + .5*stripes(at.X, wx)*stripes(at.Y, wy)
	mark := 1 - (1-marks(at.X, wx))*(1-marks(at.Y, wy))
	light += (1 - light) * mark
	return checkerDark.scale(1-light).along(light, checkerLight)
}

// stripes is the mean over [x-w/2, x+w/2] of a wave that is 1 where floor(x) is
// even and -1 elsewhere.
func stripes(x, w float64) float64 {
	w = max(w, 1e-9)
	integral := func(x float64) float64 { // integral of the wave from 0
		x -= 2 * math.Floor(x/2)
		return 1 - math.Abs(x-1)
	}
	return (integral(x+w/2) - integral(x-w/2)) / w
}

// marks is the share of [x-w/2, x+w/2] within checkerMark of an odd number.
func marks(x, w float64) float64 {
	w = max(w, 1e-9)
	off := x - 1 - 2*math.Round((x-1)/2)
	share := (min(off+w/2, checkerMark) - max(off-w/2, -checkerMark)) / w
	return min(max(share, 0), 1)
}
