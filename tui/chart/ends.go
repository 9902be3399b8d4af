package chart

import "math"

// drawEnds writes the label of each series after the end of its line, in another row if a line or
// another label is in the way.
func (c *Chart) drawEnds(to *canvas, l layout, s scale, x0, x1 float64) {
	for i := range c.Series {
		label := c.Series[i].Label
		if label == "" {
			continue
		}
		columns := Decimate(c.Series[i].line(), x0, x1, l.width)
		end := -1
		for x, col := range columns {
			if col.N > 0 && !math.IsNaN(col.Value) {
				end = x
			}
		}
		if end < 0 {
			continue // no part of the line is in sight
		}
		n := textWidth(label)
		x := min(l.left+end+1, to.w-n)
		y := l.height - 1 - s.clip(columns[end].Value)
		to.text(x, c.rowFor(to, l, x, y, n), label, Role{Kind: SeriesEnd, Series: c.look(i)})
	}
}

// rowFor is the row nearest to y in which n cells from x on are free; y if there is none.
func (c *Chart) rowFor(to *canvas, l layout, x, y, n int) int {
	for away := range l.height {
		for _, row := range []int{y - away, y + away} {
			if row >= 0 && row < l.height && to.free(x, row, n) {
				return row
			}
		}
	}
	return y
}

// endsWidth is the width needed after the plot for the labels of the series.
func (c *Chart) endsWidth() int {
	widest := 0
	for _, s := range c.Series {
		if len(s.Points) > 0 {
			widest = max(widest, textWidth(s.Label))
		}
	}
	return widest
}
