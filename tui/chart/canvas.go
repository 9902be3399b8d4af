package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Kind says what a piece of a chart is, so that the caller can colour the piece.
type Kind uint8

// The kinds of pieces.
const (
	Blank Kind = iota
	AxisLine
	AxisLabel
	SeriesLine // Role.Series says which series
	SeriesDot
	SeriesEnd // the label after the end of a line
	SeriesBand
	MarkerLine
	MarkerNumber
	AppliedTick
	ReferenceBracket
	ReferenceFaint // a reference that is not comparable with the data
	LevelLine
	NoiseBand
	FallSign
	FanArea // Role.Series: 0 without the change, 1 with it, 2 both
	FanMean // Role.Series: 0 without the change, 1 with it
	CursorLine
	GhostLine
	GhostMark
)

// Role is the kind of a piece and, for lines, dots and labels of lines, the number of the series.
type Role struct {
	Kind   Kind
	Series int
}

type cell struct {
	glyph string
	role  Role
}

// canvas is a grid of cells, row 0 at the top. Writing outside the grid does nothing.
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

// textWidth is the number of columns of s. Nothing else decides widths.
func textWidth(s string) int { return ansi.StringWidth(s) }

// text writes s cell by cell. A character of two columns takes two cells, the second of them empty;
// a character cut in half at the right end becomes a blank.
func (c *canvas) text(x, y int, s string, role Role) {
	for s != "" {
		cluster, n := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		switch {
		case n < 1:
			continue // a combining mark without a letter, or a control character
		case n == 2 && x+1 >= c.w:
			c.set(x, y, " ", role)
		case n == 2:
			c.set(x, y, cluster, role)
			c.set(x+1, y, "", role)
		default:
			c.set(x, y, cluster, role)
		}
		x += n
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
