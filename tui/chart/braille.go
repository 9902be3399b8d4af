package chart

import "math"

// Braille characters hold a grid of two by four dots, so that a line has twice the columns and four
// times the rows of the character grid. U+2800 is the empty character; these are the bits of its
// dots, the top row first.
const (
	brailleBlank   = 0x2800
	brailleColumns = 2
	brailleRows    = 4
)

var brailleBits = [brailleRows][brailleColumns]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// brailleStrokes say, for each look, which columns of dots a line draws, so that lines differ
// without colour, even in a sample of two characters.
var brailleStrokes = []string{"x", "xx..", "x.", "xxx.", "x...", "xx."}

// Braille is g with lines of Braille dots. Not every font has these characters, and screen readers
// and braille displays take them for text.
func (g Glyphs) Braille() Glyphs {
	g.braille = true
	return g
}

// dotGrid is a grid of dots over the cells of a plot, row 0 at the bottom.
type dotGrid struct {
	w, h int // in cells
	bits []uint8
}

func newDotGrid(w, h int) *dotGrid { return &dotGrid{w, h, make([]uint8, w*h)} }

// fill sets the dots of a column between two rows, both included.
func (d *dotGrid) fill(x, from, to int) {
	for y := min(from, to); y <= max(from, to); y++ {
		if x < 0 || x >= d.w*brailleColumns || y < 0 || y >= d.h*brailleRows {
			continue
		}
		cell := (d.h-1-y/brailleRows)*d.w + x/brailleColumns
		d.bits[cell] |= brailleBits[brailleRows-1-y%brailleRows][x%brailleColumns]
	}
}

// dotRow is the row of dots of v, clipped to the plot.
func (s scale) dotRow(v float64) int {
	row := math.Min(math.Max(s.rowOf(v), -0.5), float64(s.rows)-0.5)
	return min(max(int(math.Round((row+0.5)*brailleRows-0.5)), 0), s.rows*brailleRows-1)
}

// drawBraille draws the line of one series with dots: each column spans its values and meets its
// neighbours half way.
func (c *Chart) drawBraille(to *canvas, l layout, s scale, n int, x0, x1 float64) {
	look := c.look(n)
	stroke := brailleStrokes[look%len(brailleStrokes)]
	grid := newDotGrid(l.width, l.height)
	fill := func(x, from, to int) {
		if stroke[(x+len(stroke))%len(stroke)] == 'x' {
			grid.fill(x, from, to)
		}
	}
	last := -1 // row of dots in the previous column; -1: a gap
	for x, col := range Decimate(c.Series[n].line(), x0, x1, l.width*brailleColumns) {
		if math.IsNaN(col.Value) {
			last = -1
			continue
		}
		at := s.dotRow(col.Value)
		fill(x, at, at)
		if col.N > 1 {
			fill(x, s.dotRow(col.Min), s.dotRow(col.Max))
		}
		if last >= 0 && last != at {
			middle := (last + at) / 2
			fill(x-1, last, middle)
			fill(x, middle, at)
		}
		last = at
	}
	for i, bits := range grid.bits {
		if bits != 0 {
			to.set(l.left+i%l.width, i/l.width, string(rune(brailleBlank+int(bits))), Role{Kind: SeriesLine, Series: look})
		}
	}
}

// brailleSample is a level piece of the n-th look's line, as long as the given number of cells.
func brailleSample(n, cells int) string {
	stroke := brailleStrokes[n%len(brailleStrokes)]
	grid := newDotGrid(cells, 1)
	for x := range cells * brailleColumns {
		if stroke[x%len(stroke)] == 'x' {
			grid.fill(x, 1, 1)
		}
	}
	out := ""
	for _, bits := range grid.bits {
		out += string(rune(brailleBlank + int(bits)))
	}
	return out
}
