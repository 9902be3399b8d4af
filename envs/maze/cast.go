package maze

import "math"

// The camera is at half the height of the walls. Its picture is 90° wide and, because a 4:3
// picture is squeezed into a square, 73.7° high. Screen coordinates x and y are in [-1,1], to
// the right and down.
const (
	halfTangentY = 0.75
	eyeHeight    = 0.5 // walls are one cell high
)

// hit is where a ray meets a wall.
type hit struct {
	depth   float64 // along the heading, cells
	u       float64 // position on the face, from its left edge, in [0,1)
	slant   float64 // component of the ray's direction across the face; 1 along the heading
	texture *texture
}

// direction is the direction of the ray at screen coordinate x. Its component along the heading
// is 1.
func (b *body) direction(x float64) (dx, dy float64) {
	cos, sin := compass[b.Heading][0], compass[b.Heading][1]
	return cos - float64(sin*x), sin + float64(cos*x)
}

// cast follows a ray from cell to cell.
func cast(l *layout, k *look, px, py, dx, dy float64) (h hit) {
	cx, cy := int(px), int(py)
	stepX, stepY, wayX, wayY := 1, 1, 0, 1
	edgeX, edgeY := cx+1, cy+1 // the next edges between cells
	if dx < 0 {
		stepX, wayX, edgeX = -1, 2, cx
	}
	if dy < 0 {
		stepY, wayY, edgeY = -1, 3, cy
	}
	for {
		x, y := math.Inf(1), math.Inf(1)
		if dx != 0 {
			x = (float64(edgeX) - px) / dx
		}
		if dy != 0 {
			y = (float64(edgeY) - py) / dy
		}
		if x < y {
			cx += stepX
			if cell := cy*Side + cx; l.at[cell] == wall {
				h.depth, h.slant, h.texture = x, math.Abs(dx), k.faces[4*cell+wayX]
				h.u = py + float64(x*dy) - float64(cy)
				if wayX == 2 {
					h.u = 1 - h.u
				}
				break
			}
			edgeX += stepX
		} else {
			cy += stepY
			if cell := cy*Side + cx; l.at[cell] == wall {
				h.depth, h.slant, h.texture = y, math.Abs(dy), k.faces[4*cell+wayY]
				h.u = px + float64(y*dx) - float64(cx)
				if wayY == 1 {
					h.u = 1 - h.u
				}
				break
			}
			edgeY += stepY
		}
	}
	h.u = min(max(h.u, 0), 1-1e-9)
	return h
}

// levelOf is the mip level in which a texel is at least as large as a pixel that covers cover
// cells of a surface.
func levelOf(cover float64) (level int) {
	for cover *= texels; cover > 1 && level < levels-1; level++ {
		cover /= 2
	}
	return level
}

// cover is how many cells of a wall a pixel covers on a screen of side pixels.
func (h *hit) cover(side int) float64 {
	return h.depth * max(2/h.slant, 2*halfTangentY) / float64(side)
}

// The goal is a disc that faces the eye.
const (
	goalRadius = 0.25
	goalHeight = 0.35 // height of its middle
	nearest    = 0.05 // depth; nothing nearer is drawn
)

// sprite is the goal on the screen: its middle and half of its size.
type sprite struct {
	depth, x, y, width, height float64
}

// goal returns the goal on the screen; ok is false if it is behind the eye.
func (b *body) goal(cell int) (s sprite, ok bool) {
	gx, gy := centre(cell)
	cos, sin := compass[b.Heading][0], compass[b.Heading][1]
	ex, ey := gx-b.X, gy-b.Y
	s.depth = float64(ex*cos) + float64(ey*sin)
	if s.depth < nearest {
		return s, false
	}
	s.x = (float64(ey*cos) - float64(ex*sin)) / s.depth
	s.width = goalRadius / s.depth
	s.y = (eyeHeight - goalHeight) / (halfTangentY * s.depth)
	s.height = goalRadius / (halfTangentY * s.depth)
	return s, true
}
