package chart

import "math"

// Ghost is what other runs did, drawn where cells are blank: the edges of an area and its middle, or
// single lines. Points ascend in X. Mark, if not nil, is a level that is marked on the vertical axis
// alone.
type Ghost struct {
	Low, Mid, High []Point
	Lines          [][]Point
	Mark           *float64
}

// points are all points of a ghost.
func (g Ghost) points() (all []Point) {
	for _, line := range append([][]Point{g.Low, g.Mid, g.High}, g.Lines...) {
		all = append(all, line...)
	}
	return all
}

// logarithm is the ghost on a logarithmic axis.
func (g Ghost) logarithm() Ghost {
	out := Ghost{Low: logarithms(g.Low), Mid: logarithms(g.Mid), High: logarithms(g.High)}
	for _, line := range g.Lines {
		out.Lines = append(out.Lines, logarithms(line))
	}
	if g.Mark != nil {
		mark := logarithm(*g.Mark)
		out.Mark = &mark
	}
	return out
}

// drawGhost draws the lines, and the mark on the axis.
func (c *Chart) drawGhost(to *canvas, l layout, s scale, x0, x1 float64) {
	role := Role{Kind: GhostLine}
	draw := func(points []Point, glyph string) {
		for x, col := range Decimate(points, x0, x1, l.width) {
			if math.IsNaN(col.Value) {
				continue
			}
			if y := l.height - 1 - s.clip(col.Value); to.blank(l.left+x, y) {
				to.set(l.left+x, y, glyph, role)
			}
		}
	}
	draw(c.Ghost.Mid, c.Glyphs.ghost[1])
	for _, line := range append([][]Point{c.Ghost.Low, c.Ghost.High}, c.Ghost.Lines...) {
		draw(line, c.Glyphs.ghost[0])
	}
	if m := c.Ghost.Mark; m != nil && finite(*m) && l.axisCol >= 0 {
		row, glyph := s.rowOf(*m), c.Glyphs.ghost[2]
		switch {
		case row > float64(s.rows)-0.5:
			glyph = c.Glyphs.above
		case row < -0.5:
			glyph = c.Glyphs.below
		}
		to.set(l.axisCol, l.height-1-s.clip(*m), glyph, Role{Kind: GhostMark})
	}
}

// Beyond is a reference that was measured to the right of what is shown, with what stands beside it.
type Beyond struct {
	Reference
	Label string
}

// drawBeyond draws the bracket of that reference in the last column, after a break of the axis.
func (c *Chart) drawBeyond(to *canvas, l layout, s scale, x1 float64) {
	b := c.Beyond
	if b == nil || !finite(b.X) || b.X <= x1 || l.width < 2*minPlotWidth {
		return
	}
	c.drawReference(to, l, s, Reference{X: x1, Low: b.Low, Mid: b.Mid, High: b.High, Faint: b.Faint}, x1-1, x1)
	if l.axisRow >= 0 {
		for x := l.width - 4; x < l.width-1; x++ {
			to.set(l.left+x, l.axisRow, c.Glyphs.broken, Role{Kind: AxisLine})
		}
	}
	n := textWidth(b.Label)
	row := c.rowFor(to, l, l.left+l.width-2-n, l.height-1-s.clip(b.Mid), n+1)
	to.text(l.left+l.width-2-n, row, b.Label, Role{Kind: ReferenceBracket})
}
