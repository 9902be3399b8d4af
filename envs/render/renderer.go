package render

import (
	"image"
	"math"
)

// Renderer draws pictures of one scene. It belongs to one goroutine.
type Renderer struct {
	scene   *Scene
	forward Vec

	w, h  int
	image *image.RGBA
	sky   []Vec // [w·h]

	// The state of the present picture.
	eye      Vec
	focal    float64 // pixels
	placed   []placed
	middle   Vec // centre of the ball around all shapes but the planes
	extent   float64
	lights   []Vec // positions of the lights
	depth    []float64
	owner    []int16 // shape at each pixel's centre; none: nothing
	lastCell gridCell
}

// placed is a shape at its present position.
type placed struct {
	*Shape
	Frame
	eye    Vec     // the camera in the shape's frame
	radius float64 // radius of the ball around it
	rect   image.Rectangle
}

const none = -1

// New makes a renderer.
func New(scene *Scene) *Renderer {
	r := &Renderer{scene: scene, placed: make([]placed, len(scene.Shapes)), lights: make([]Vec, len(scene.Lights))}
	r.lastCell.corner = make([][4]float64, 1+len(scene.Lights))
	r.forward = scene.Camera.Up.cross(scene.Camera.Right)
	for i := range scene.Shapes {
		r.placed[i].Shape = &scene.Shapes[i]
	}
	return r
}

// Draw paints the scene with shape i at frames[i], w by h pixels. Cameras and lights with
// Tracks set follow the point tracked. The picture belongs to the renderer and is valid
// until the next call; it is nil if there are no pixels.
func (r *Renderer) Draw(frames []Frame, tracked Vec, w, h int) *image.RGBA {
	if w <= 0 || h <= 0 {
		return nil
	}
	if w != r.w || h != r.h {
		r.resize(w, h)
	}
	r.place(frames, tracked)
	for i := range r.depth {
		r.depth[i], r.owner[i] = never, none
	}
	for i := range r.placed {
		r.cover(i)
	}
	r.paint()
	return r.image
}

// resize makes the memory for another size, and its sky, which is fixed because the camera
// never turns.
func (r *Renderer) resize(w, h int) {
	c := &r.scene.Camera
	r.w, r.h = w, h
	r.image = image.NewRGBA(image.Rect(0, 0, w, h))
	r.depth, r.owner, r.sky = make([]float64, w*h), make([]int16, w*h), make([]Vec, w*h)
	r.focal = float64(min(w, h)) / 2 / math.Tan(c.FovY/2)
	for y := range h {
		for x := range w {
			r.sky[y*w+x] = sky(r.ray(float64(x)+.5, float64(y)+.5), 1/r.focal)
		}
	}
}

// ray is the direction through a point of the picture, in pixels from its upper left
// corner. Its component along the camera's axis is 1.
func (r *Renderer) ray(x, y float64) Vec {
	c := &r.scene.Camera
	return r.forward.along((x-float64(r.w)/2)/r.focal, c.Right).along((float64(r.h)/2-y)/r.focal, c.Up)
}

// place sets the present positions of camera, lights and shapes.
func (r *Renderer) place(frames []Frame, tracked Vec) {
	c := &r.scene.Camera
	r.eye = c.Pos
	if c.Tracks {
		r.eye = c.Pos.add(tracked)
	}
	for i, l := range r.scene.Lights {
		r.lights[i] = l.Pos
		if l.Tracks {
			r.lights[i] = l.Pos.add(tracked)
		}
	}
	for i := range r.placed {
		p := &r.placed[i]
		p.Frame = frames[i]
		p.eye = p.point(r.eye)
		reach, radius := p.bounds()
		p.radius = reach + radius
		p.rect = r.enclosed(p.Pos.along(reach, p.Z), p.Pos.along(-reach, p.Z), radius)
	}
	r.enclose()
	r.lastCell.shape = none
}

// enclose finds a ball around all shapes but the planes.
func (r *Renderer) enclose() {
	r.middle, r.extent = Vec{}, 0
	n := 0.
	for i := range r.placed {
		if p := &r.placed[i]; p.Kind != Plane {
			r.middle, n = r.middle.add(p.Pos), n+1
		}
	}
	r.middle = r.middle.scale(1 / max(n, 1))
	for i := range r.placed {
		if p := &r.placed[i]; p.Kind != Plane {
			r.extent = max(r.extent, p.Pos.sub(r.middle).norm()+p.radius)
		}
	}
}

// enclosed is a rectangle of pixels that contains the picture of two balls and of all between them.
func (r *Renderer) enclosed(a, b Vec, radius float64) image.Rectangle {
	all := image.Rect(0, 0, r.w, r.h)
	da, db := a.sub(r.eye), b.sub(r.eye)
	za, zb := da.dot(r.forward), db.dot(r.forward)
	switch {
	case za > radius && zb > radius: // an end beside the picture counts too: what is between is in it
		return r.project(da, za, radius).Union(r.project(db, zb, radius)).Intersect(all)
	case za < -radius && zb < -radius:
		return image.Rectangle{} // behind
	}
	return all
}

// project is a rectangle that contains the picture of a ball at d from the eye, z > radius of that
// along the camera's axis. It is in pixels, of the picture or beside it.
func (r *Renderer) project(d Vec, z, radius float64) image.Rectangle {
	left, right := tangents(d.dot(r.scene.Camera.Right), z, radius)
	down, up := tangents(d.dot(r.scene.Camera.Up), z, radius)
	x, y := float64(r.w)/2, float64(r.h)/2
	clip := func(v float64) int { return int(min(max(v, math.MinInt16), math.MaxInt16)) }
	return image.Rect(clip(x+r.focal*left)-1, clip(y-r.focal*up)-1, clip(x+r.focal*right)+2, clip(y-r.focal*down)+2)
}

// tangents returns the slopes of the two lines from the origin that touch the circle of
// that radius around (x, z), z > radius.
func tangents(x, z, radius float64) (low, high float64) {
	root := radius * math.Sqrt(x*x+z*z-radius*radius)
	under := z*z - radius*radius
	return (x*z - root) / under, (x*z + root) / under
}

// cover enters a shape into the depth buffer.
func (r *Renderer) cover(i int) {
	p := &r.placed[i]
	c := &r.scene.Camera
	forward, right, up := p.vector(r.forward), p.vector(c.Right), p.vector(c.Up)
	for y := p.rect.Min.Y; y < p.rect.Max.Y; y++ {
		row := forward.along((float64(r.h)/2-float64(y)-.5)/r.focal, up)
		for x := p.rect.Min.X; x < p.rect.Max.X; x++ {
			d := row.along((float64(x)+.5-float64(r.w)/2)/r.focal, right)
			at := y*r.w + x
			if t := p.hit(p.eye, d, 0); t < r.depth[at] {
				r.depth[at], r.owner[at] = t, int16(i)
			}
		}
	}
}

// samples holds the four points in a pixel at which a border is sampled: a rotated grid.
var samples = [4][2]float64{{.375, .125}, {.875, .375}, {.125, .625}, {.625, .875}}

// paint colours all pixels.
func (r *Renderer) paint() {
	for y := range r.h {
		for x := range r.w {
			at := y*r.w + x
			var c Vec
			if r.border(x, y) {
				for _, s := range samples {
					c = c.along(1./float64(len(samples)), r.look(x, y, s[0], s[1]))
				}
			} else {
				c = r.colour(int(r.owner[at]), at, r.ray(float64(x)+.5, float64(y)+.5), r.depth[at])
			}
			pix := r.image.Pix[4*at : 4*at+4]
			pix[0], pix[1], pix[2], pix[3] = eight(c.X), eight(c.Y), eight(c.Z), 255
		}
	}
}

func eight(x float64) uint8 { return uint8(min(max(x, 0), 1)*255 + .5) }

// border says whether a neighbour shows another shape.
func (r *Renderer) border(x, y int) bool {
	at := y*r.w + x
	mine := r.owner[at]
	return x > 0 && r.owner[at-1] != mine || x+1 < r.w && r.owner[at+1] != mine ||
		y > 0 && r.owner[at-r.w] != mine || y+1 < r.h && r.owner[at+r.w] != mine
}

// look is the colour at a point within a pixel.
func (r *Renderer) look(x, y int, dx, dy float64) Vec {
	d := r.ray(float64(x)+dx, float64(y)+dy)
	nearest, owner := never, none
	for i := range r.placed {
		p := &r.placed[i]
		if !(image.Point{x, y}).In(p.rect) {
			continue
		}
		if t := p.hit(p.eye, p.vector(d), 0); t < nearest {
			nearest, owner = t, i
		}
	}
	return r.colour(owner, y*r.w+x, d, nearest)
}
