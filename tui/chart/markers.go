package chart

import (
	"math"
	"strings"
)

// drawMarkers draws the ticks of applied changes, then the cursor and the markers, whose lines run
// behind everything else.
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
	var at []mark
	for _, m := range c.Markers {
		if !finite(m.X) || m.X < x0 || m.X > x1 {
			continue
		}
		x := l.left + columnOf(m.X, x0, x1, l.width)
		at = append(at, mark{x, m.Label, m.Text})
		for y := range l.height {
			if to.blank(x, y) {
				to.set(x, y, c.Glyphs.marker, Role{Kind: MarkerLine})
			}
		}
	}
	if l.markerRow >= 0 && c.captions(to, l, at) {
		return
	}
	for _, g := range placed(at, to.w) {
		to.text(g.x, 0, g.text, Role{Kind: MarkerNumber})
	}
	if l.markerRow >= 0 {
		to.text(0, l.markerRow, c.list(at, to.w), Role{Kind: MarkerNumber})
	}
}

// mark is a marker, placed in a column of the canvas.
type mark struct {
	x           int
	label, text string
}

// run is a text that starts at a column.
type run struct {
	x    int
	text string
}

func (r run) end() int { return r.x + textWidth(r.text) }

// placed puts the labels of marks at their columns, within w columns. Labels that would touch are
// written as one list, in the order of the marks.
func placed(at []mark, w int) []run {
	type group struct {
		run
		labels []string
	}
	var out []group
	for _, m := range at {
		g := group{run{m.x, m.label}, []string{m.label}}
		for {
			g.text = listed(g.labels, w)
			g.x = max(0, min(g.x, w-textWidth(g.text)))
			n := len(out)
			if n == 0 || out[n-1].end() < g.x {
				break
			}
			before := out[n-1] // it would touch g
			out = out[:n-1]
			g = group{run{before.x, ""}, append(before.labels, g.labels...)}
		}
		out = append(out, g)
	}
	runs := make([]run, len(out))
	for i, g := range out {
		runs[i] = g.run
	}
	return runs
}

// listed is a list such as "1,3,2"; if that is wider than w, only the first and the last label.
func listed(labels []string, w int) string {
	text := strings.Join(labels, ",")
	if n := len(labels); textWidth(text) > w && n > 2 {
		return labels[0] + ".." + labels[n-1]
	}
	return text
}

// captions writes ▲label text below the axis, with the pointer below its marker and the text after
// it, or before it if there is no room after. It writes nothing unless all captions fit.
func (c *Chart) captions(to *canvas, l layout, at []mark) bool {
	var runs []run
	for i := 0; i < len(at); {
		m := at[i]
		short, text := c.Glyphs.pointer+m.label, m.text
		for i++; i < len(at) && at[i].x == m.x; i++ { // marks in the same column
			short += "," + at[i].label
			text += ", " + at[i].text
		}
		from, limit := 0, to.w
		if len(runs) > 0 {
			from = runs[len(runs)-1].end() + 1
		}
		if i < len(at) {
			limit = at[i].x - 1
		}
		r, ok := run{m.x, short}, true
		if text != "" {
			r, ok = beside(short, text, m.x, from, limit)
		} else if limit == to.w {
			r.x = min(r.x, to.w-textWidth(short)) // at the right edge the caption starts before its marker
		}
		if !ok || r.x < from || r.end() > limit {
			return false
		}
		runs = append(runs, r)
	}
	for _, r := range runs {
		to.text(r.x, l.markerRow, r.text, Role{Kind: MarkerNumber})
	}
	return true
}

// beside is a text with its pointer, which stands in column x: the text is after the pointer if it
// then ends by limit, else before it if it then begins at from or later.
func beside(pointer, text string, x, from, limit int) (run, bool) {
	if r := (run{x, pointer + " " + text}); r.x >= from && r.end() <= limit {
		return r, true
	}
	r := run{x - 1 - textWidth(text), text + " " + pointer}
	if r.end() > limit { // the label is wider than the room after the marker
		r.x = limit - textWidth(r.text)
	}
	return r, r.x >= from
}

// list is the labels with their texts in one line, the newest last. If they do not all fit in w
// columns, the newest stay.
func (c *Chart) list(at []mark, w int) string {
	text := ""
	for i := len(at) - 1; i >= 0; i-- {
		one := at[i].label
		if at[i].text != "" {
			one += " " + at[i].text
		}
		longer := one
		if text != "" {
			longer = one + "  " + text
		}
		more := ""
		if i > 0 {
			more = ".. "
		}
		if textWidth(more+longer) > w {
			if text == "" {
				return ""
			}
			return ".. " + text
		}
		text = longer
	}
	return text
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

// drawLevel draws a horizontal line into the blank cells of its row.
func (c *Chart) drawLevel(to *canvas, l layout, s scale, level Level) {
	row := s.rowOf(level.Y)
	if !finite(level.Y) || row < -0.5 || row >= float64(l.height)-0.5 {
		return
	}
	y, role := l.height-1-int(math.Round(row)), Role{Kind: LevelLine}
	if n := textWidth(level.Label); n > 0 && n+2 < l.width {
		if at := l.left + l.width - n; to.free(at-1, y, n+1) {
			to.text(at, y, level.Label, role)
			to.set(at-1, y, " ", role)
		}
	}
	for x := 0; x < l.width; x += 2 {
		if to.blank(l.left+x, y) {
			to.set(l.left+x, y, c.Glyphs.level, role)
		}
	}
}
