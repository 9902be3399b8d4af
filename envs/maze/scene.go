package maze

import "math"

// The observation consists of rays from left to right, with RaySize numbers each.
const (
	Rays    = 32
	RaySize = 5 // red, green, blue of the wall's column, nearness 1/(1+depth), whether the goal is seen
	tvRays  = 8
)

// scene is everything that can be seen.
type scene struct {
	layout *layout
	look   *look
	body   *body
	screen screen
}

// rays writes the observation [Rays·RaySize], numbers in [0,1].
func (s *scene) rays(dst []float32) {
	goal, ahead := s.body.goal(s.layout.goal)
	for i := range Rays {
		x := float64(2*i+1)/Rays - 1
		dx, dy := s.body.direction(x)
		h := cast(s.layout, s.look, s.body.X, s.body.Y, dx, dy)
		level := levelOf(h.cover(Rays))
		columns := texels >> level
		ray := dst[i*RaySize : (i+1)*RaySize]
		copy(ray, h.texture.means[level][int(h.u*float64(columns))][:])
		ray[3], ray[4] = float32(1/(1+h.depth)), 0
		if ahead && goal.depth < h.depth && math.Abs(x-goal.x) <= goal.width {
			ray[4] = 1
		}
	}
	s.screen.coverRays(dst)
}

// camera draws scenes. Its memory serves one size of frames at a time.
type camera struct {
	side        int
	top, bottom []int // for each column's wall: its first row, and the one after its last
	depth       []float64
}

// draw writes a frame [side,side,3], the top line first.
func (c *camera) draw(dst []byte, side int, s *scene) {
	if c.side != side {
		c.side, c.top, c.bottom, c.depth = side, make([]int, side), make([]int, side), make([]float64, side)
	}
	c.walls(dst, s)
	c.sky(dst, s)
	c.floor(dst, s)
	c.goal(dst, s)
	s.screen.cover(dst, side)
}

// fixed is a number with 32 binary digits after the point, so that sums are exact.
func fixed(v float64) int64 { return int64(v * (1 << 32)) }

// walls draws the wall of every column.
func (c *camera) walls(dst []byte, s *scene) {
	n := c.side
	for i := range n {
		dx, dy := s.body.direction(float64(2*i+1)/float64(n) - 1)
		h := cast(s.layout, s.look, s.body.X, s.body.Y, dx, dy)
		c.depth[i] = h.depth
		tall := float64(h.depth * halfTangentY) // cells from the middle of the screen to its edge
		// Row j's middle is at y = (2j+1)/n − 1, which on this wall is v = ½ + y·tall.
		c.top[i] = max(0, int(math.Ceil((float64(float64(n)*(1-eyeHeight/tall))-1)/2)))
		c.bottom[i] = n - c.top[i]
		level := levelOf(h.cover(n))
		size := texels >> level
		column := h.texture.levels[level][3*size*int(h.u*float64(size)):][:3*size]
		v := fixed(0.5 + float64((float64(2*c.top[i]+1)/float64(n)-1)*tall))
		down := fixed(2 * tall / float64(n))
		for at := 3 * (c.top[i]*n + i); at < 3*c.bottom[i]*n; at += 3 * n {
			from := 3 * min(max(int(v>>(26+level)), 0), size-1) // 64 texels are 6 of the 32 digits
			dst[at], dst[at+1], dst[at+2] = column[from], column[from+1], column[from+2]
			v += down
		}
	}
}

// sky draws the part above the walls, a panorama around the eye.
func (c *camera) sky(dst []byte, s *scene) {
	n := c.side
	for i := range n {
		dx, dy := s.body.direction(float64(2*i+1)/float64(n) - 1)
		u := int(bearing(dx, dy)*(skyWidth/4)) % skyWidth
		column := s.look.sky[3*skyHeight*u:][:3*skyHeight]
		for j := range min(c.top[i], (n+1)/2) {
			from, at := 3*(j*2*skyHeight/(n+1)), 3*(j*n+i)
			dst[at], dst[at+1], dst[at+2] = column[from], column[from+1], column[from+2]
		}
	}
}

// bearing is a direction in [0,4), where a quarter turn is 1. Like the angle, it grows from east
// to south, but needs no arc tangent.
func bearing(dx, dy float64) float64 {
	part := dy / (math.Abs(dx) + math.Abs(dy))
	switch {
	case dx < 0:
		return 2 - part
	case dy < 0:
		return 4 + part
	}
	return part
}

// floor draws the part below the walls, with one distance per row and two additions per pixel.
func (c *camera) floor(dst []byte, s *scene) {
	n := c.side
	leftX, leftY := s.body.direction(1/float64(n) - 1)
	nextX, nextY := s.body.direction(3/float64(n) - 1)
	for j := n / 2; j < n; j++ {
		y := float64(2*j+1)/float64(n) - 1
		if y <= 0 {
			continue
		}
		depth := eyeHeight / (y * halfTangentY)
		level := levelOf(depth / float64(n) * max(2, 4*halfTangentY*depth))
		size, shift := int64(texels>>level), 26+level
		from := s.look.floor.levels[level]
		fx, fy := fixed(s.body.X+float64(depth*leftX)), fixed(s.body.Y+float64(depth*leftY))
		moreX, moreY := fixed(depth*(nextX-leftX)), fixed(depth*(nextY-leftY))
		line := dst[3*j*n : 3*(j+1)*n]
		for i := range n {
			if j >= c.bottom[i] {
				at := 3 * (fx>>shift&(size-1)*size + fy>>shift&(size-1))
				line[3*i], line[3*i+1], line[3*i+2] = from[at], from[at+1], from[at+2]
			}
			fx, fy = fx+moreX, fy+moreY
		}
	}
}

// The goal's colours: gold around white.
var goalRim, goalHeart = colour{255, 200, 0}, colour{255, 255, 255}

// goal draws the visible part of the goal, where no wall is in front of it.
func (c *camera) goal(dst []byte, s *scene) {
	g, ahead := s.body.goal(s.layout.goal)
	if !ahead {
		return
	}
	n := c.side
	middle := func(i int) float64 { return float64(2*i+1)/float64(n) - 1 }
	first := max(0, int((g.x-g.width+1)/2*float64(n))-1)
	top, bottom := max(0, int((g.y-g.height+1)/2*float64(n))-1), min(n, int((g.y+g.height+1)/2*float64(n))+1)
	for i := first; i < n && middle(i) <= g.x+g.width; i++ {
		if g.depth >= c.depth[i] {
			continue
		}
		u := (middle(i) - g.x) / g.width
		for j := top; j < bottom; j++ {
			v := (middle(j) - g.y) / g.height
			switch r := float64(u*u) + float64(v*v); {
			case r < 0.3:
				copy(dst[3*(j*n+i):], goalHeart[:])
			case r < 1:
				copy(dst[3*(j*n+i):], goalRim[:])
			}
		}
	}
}
