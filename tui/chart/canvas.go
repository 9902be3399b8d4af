package chart

import "strings"

// Kind says what a piece of a chart is, so that the caller can colour it.
type Kind uint8

// The kinds of pieces.
const (
	Blank Kind = iota
	AxisLine
	AxisLabel
	SeriesLine // Role.Series says which
	SeriesDot
	MarkerLine
	MarkerNumber
	AppliedTick
	ReferenceBracket
	CursorLine
)

// Role is the kind of a piece and, for lines and dots, the number of its series.
type Role struct {
	Kind   Kind
	Series int
}

type cell struct {
	glyph string
	role  Role
}

// canvas is a grid of cells, row 0 on top. Writing outside it does nothing.
type canvas struct {
	w, h  int
	cells []cell
}

func newCanvas(w, h int) *canvas {
	c := &canvas{w: w, h: h, cells: make([]cell, w*h)}
	for i := range c.cells {
		c.cells[i].glyph = " "
	}
	return c
}

func (c *canvas) set(x, y int, glyph string, role Role) {
	if x >= 0 && x < c.w && y >= 0 && y < c.h {
		c.cells[y*c.w+x] = cell{glyph, role}
	}
}

func (c *canvas) blank(x, y int) bool {
	return x >= 0 && x < c.w && y >= 0 && y < c.h && c.cells[y*c.w+x].role.Kind == Blank
}

// free says whether n cells from x on are blank.
func (c *canvas) free(x, y, n int) bool {
	for i := range n {
		if !c.blank(x+i, y) {
			return false
		}
	}
	return true
}

// text writes s cell by cell; its characters must be one column wide.
func (c *canvas) text(x, y int, s string, role Role) {
	for _, r := range s {
		c.set(x, y, string(r), role)
		x++
	}
}

// lines renders the grid; runs of one role are painted together.
func (c *canvas) lines(paint func(Role, string) string) []string {
	out := make([]string, c.h)
	var line, run strings.Builder
	for y := range c.h {
		line.Reset()
		for x := 0; x < c.w; {
			role := c.cells[y*c.w+x].role
			run.Reset()
			for x < c.w && c.cells[y*c.w+x].role == role {
				run.WriteString(c.cells[y*c.w+x].glyph)
				x++
			}
			if paint == nil || role.Kind == Blank {
				line.WriteString(run.String())
			} else {
				line.WriteString(paint(role, run.String()))
			}
		}
		out[y] = line.String()
	}
	return out
}
