package chart

import "math"

// drawMarkers draws the ticks of applied changes, then the cursor and the markers,
// whose lines run behind everything else.
func (c *Chart) drawMarkers(to *canvas, l layout, x0, x1 float64) {
	if l.axisRow >= 0 {
		for _, x := range c.Applied {
			if finite(x) && x >= x0 && x <= x1 {
				to.set(l.left+columnOf(x, x0, x1, l.width), l.axisRow, c.Glyphs.applied, Role{Kind: AppliedTick})
			}
		}
	}
	if x := c.Cursor; x != nil && finite(*x) && *x >= x0 && *x <= x1 {
		for y := range l.height {
			if col := l.left + columnOf(*x, x0, x1, l.width); to.blank(col, y) {
				to.set(col, y, c.Glyphs.cursor, Role{Kind: CursorLine})
			}
		}
	}
	textEnd := 0 // first free column of the marker row
	groups := c.markerGroups(l, x0, x1)
	for i, g := range groups {
		for y := range l.height {
			if to.blank(g.x, y) {
				to.set(g.x, y, c.Glyphs.marker, Role{Kind: MarkerLine})
			}
		}
		if l.markerRow < 0 {
			if n := textWidth(g.numbers); g.x+n <= to.w {
				to.text(g.x, 0, g.numbers, Role{Kind: MarkerNumber})
			}
			continue
		}
		limit := to.w
		if i+1 < len(groups) {
			limit = groups[i+1].x - 1
		}
		textEnd = c.markerText(to, l, g, limit, textEnd)
	}
}

// markerGroup is the markers that share a column.
type markerGroup struct {
	x             int
	numbers, text string // "1,2", and the texts behind each other
}

func (c *Chart) markerGroups(l layout, x0, x1 float64) []markerGroup {
	var out []markerGroup
	for _, m := range c.Markers {
		if !finite(m.X) || m.X < x0 || m.X > x1 {
			continue
		}
		x := l.left + columnOf(m.X, x0, x1, l.width)
		number := m.Label
		if n := len(out); n > 0 && out[n-1].x == x {
			out[n-1].numbers += "," + number
			out[n-1].text += ", " + m.Text
			continue
		}
		out = append(out, markerGroup{x, number, m.Text})
	}
	return out
}

// markerText writes ▲number text below the axis, the pointer below its marker: the
// text behind it, or before it where there is no room behind, as much as fits between
// the neighbours; the first free column behind it is returned.
func (c *Chart) markerText(to *canvas, l layout, g markerGroup, limit, from int) int {
	short := c.Glyphs.pointer + g.numbers
	type version struct {
		text string
		at   int
	}
	var all []version
	if g.text != "" {
		all = append(all, version{short + " " + g.text, g.x}, version{g.text + " " + short, g.x - 1 - textWidth(g.text)})
	}
	all = append(all, version{short, g.x})
	for _, v := range all {
		if edge := to.w - textWidth(v.text); limit == to.w && (v.at < g.x || v.text == short) {
			v.at = min(v.at, edge) // at the right edge the number stands before its marker
		}
		if end := v.at + textWidth(v.text); v.at >= from && end <= limit {
			to.text(v.at, l.markerRow, v.text, Role{Kind: MarkerNumber})
			return end + 1
		}
	}
	return from
}

// drawReference draws a bracket at the place where the reference was measured.
func (c *Chart) drawReference(to *canvas, l layout, s scale, r Reference, x0, x1 float64) {
	if !finite(r.X) || r.X < x0 || r.X > x1 || !finite(r.Low) || !finite(r.Mid) || !finite(r.High) {
		return
	}
	col := l.left + columnOf(r.X, x0, x1, l.width)
	role := Role{Kind: ReferenceBracket}
	if r.Faint {
		role.Kind = ReferenceFaint
	}
	top := float64(l.height) - 0.5
	low, mid, high := s.rowOf(r.Low), s.rowOf(r.Mid), s.rowOf(r.High)
	switch {
	case low > top:
		to.set(col, 0, c.Glyphs.above, role)
		return
	case high < -0.5:
		to.set(col, l.height-1, c.Glyphs.below, role)
		return
	}
	put := func(row float64, glyph string) {
		if row >= -0.5 && row < top {
			to.set(col, l.height-1-int(math.Round(row)), glyph, role)
		}
	}
	for row := math.Max(0, math.Round(low)); row <= math.Min(high, top); row++ {
		put(row, c.Glyphs.bracket[1])
	}
	put(high, c.Glyphs.bracket[0])
	put(low, c.Glyphs.bracket[2])
	put(mid, c.Glyphs.bracket[3])
}
