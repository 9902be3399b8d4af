package chart

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Draw says how a series appears.
type Draw uint8

// The ways to draw a series.
const (
	Line Draw = iota
	Dots
	LineAndDots
)

// Series is one measured quantity, ascending in X. Its place in Chart.Series
// chooses its glyphs, so that series differ without colour.
type Series struct {
	Points []Point
	Draw   Draw
}

// Marker is a vertical line at X with a number; Text stands beside the number
// below the axis where there is room. Markers ascend in X.
type Marker struct {
	X      float64
	Number int
	Text   string
}

// Reference is a value to compare with, drawn as a bracket from Low to High right
// of the plot. It does not widen the vertical range; out of range it is an arrow.
type Reference struct{ Low, Mid, High float64 }

// Chart is what to draw. The zero value is an empty chart.
type Chart struct {
	Series    []Series // earlier series are drawn over later ones
	Markers   []Marker
	Applied   []float64 // faint ticks on the horizontal axis
	Reference *Reference
	Cursor    *float64 // a vertical line at the position being inspected

	XMin, XMax float64   // the horizontal range; from the data where XMax ≤ XMin
	Include    []float64 // values the vertical range must contain
	Glyphs     Glyphs    // Unicode() or ASCII(); the zero value means Unicode()
	FormatX    func(float64) string
	FormatY    func(v, step float64) string // step is the distance of two labels
	Paint      func(Role, string) string    // colours a piece; nil leaves it plain
}

// Least room for labels, and what must remain for the plot.
const (
	leastPlotWidth = 8
	markerRowFrom  = 13 // lines from which the markers get a row of their own
	axisRowsFrom   = 5  // lines from which the horizontal axis has labels
)

// layout is where things stand: the plot covers columns left..left+width-1 and rows
// 0..height-1; the vertical axis is column left-1.
type layout struct {
	left, width, height   int
	axisRow, labelRow     int // -1: none
	markerRow, bracketCol int // -1: none
	axisCol               int // -1: none
}

// Lines draws the chart into exactly h lines of exactly w columns each (none when
// either is below 1). Any data may come: no points, one, a constant, NaN, ±Inf.
func (c *Chart) Lines(w, h int) []string {
	if w < 1 || h < 1 {
		return nil
	}
	if c.Glyphs.axis == "" {
		d := *c
		d.Glyphs = Unicode()
		c = &d
	}
	canvas := newCanvas(w, h)
	l := c.rows(h)
	x0, x1 := c.xRange()
	lo, hi := c.yRange(x0, x1)
	s := newScale(lo, hi, l.height)
	labels := s.labels(c.formatY)
	c.columns(&l, w, labels)
	if l.width < 1 {
		return canvas.lines(c.Paint)
	}

	columns := make([][]Column, len(c.Series))
	for i, series := range c.Series {
		columns[i] = Decimate(series.Points, x0, x1, l.width)
	}
	c.drawAxes(canvas, l, labels, x0, x1)
	for i := len(c.Series) - 1; i >= 0; i-- {
		c.drawSeries(canvas, l, s, i, columns[i])
	}
	for i := len(c.Series) - 1; i >= 0; i-- {
		c.drawDots(canvas, l, s, i, columns[i])
	}
	c.drawMarkers(canvas, l, x0, x1)
	c.drawReference(canvas, l, s)
	return canvas.lines(c.Paint)
}

func (c *Chart) formatY(v, step float64) string {
	if c.FormatY != nil {
		return c.FormatY(v, step)
	}
	return FormatValue(v, step)
}

func (c *Chart) formatX(v float64) string {
	if c.FormatX != nil {
		return c.FormatX(v)
	}
	return FormatCount(v)
}

// rows shares out the h lines.
func (c *Chart) rows(h int) layout {
	l := layout{height: h, axisRow: -1, labelRow: -1, markerRow: -1, bracketCol: -1, axisCol: -1}
	if h >= axisRowsFrom {
		l.height = h - 2
		l.axisRow, l.labelRow = h-2, h-1
	}
	if h >= markerRowFrom && len(c.Markers) > 0 {
		l.height--
		l.axisRow, l.labelRow, l.markerRow = h-3, h-2, h-1
	}
	return l
}

// columns shares out the w columns.
func (c *Chart) columns(l *layout, w int, labels []string) {
	widest := 0
	for _, s := range labels {
		widest = max(widest, utf8.RuneCountInString(s))
	}
	l.width = w
	if w >= widest+2+leastPlotWidth {
		l.axisCol = widest + 1
		l.left = widest + 2
	} else if w >= leastPlotWidth {
		l.axisCol = 0
		l.left = 1
	}
	l.width = w - l.left
	if c.Reference != nil && l.width > leastPlotWidth {
		l.width--
		l.bracketCol = w - 1
	}
}

// xRange is the horizontal range; one of no width is widened, so that a lone point
// has a place.
func (c *Chart) xRange() (float64, float64) {
	if finite(c.XMin) && finite(c.XMax) && c.XMax > c.XMin {
		return c.XMin, c.XMax
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			if finite(p.X) {
				lo, hi = math.Min(lo, p.X), math.Max(hi, p.X)
			}
		}
	}
	switch {
	case lo > hi:
		return 0, 1
	case lo == hi:
		pad := math.Max(1, math.Abs(lo)*1e-3)
		return lo, lo + pad
	default:
		return lo, hi
	}
}

// yRange is the range of the finite values in [x0, x1] and of Include.
func (c *Chart) yRange(x0, x1 float64) (float64, float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	take := func(y float64) {
		if finite(y) {
			lo, hi = math.Min(lo, y), math.Max(hi, y)
		}
	}
	for _, s := range c.Series {
		for _, p := range s.Points {
			if p.X >= x0 && p.X <= x1 {
				take(p.Y)
			}
		}
	}
	for _, y := range c.Include {
		take(y)
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

func (c *Chart) drawAxes(to *canvas, l layout, labels []string, x0, x1 float64) {
	if l.axisCol >= 0 {
		for row, label := range labels {
			y := l.height - 1 - row
			to.set(l.axisCol, y, c.Glyphs.axisGlyph(label), Role{Kind: AxisLine})
			if n := utf8.RuneCountInString(label); l.axisCol > n {
				to.text(l.axisCol-1-n, y, label, Role{Kind: AxisLabel})
			}
		}
	}
	if l.axisRow < 0 {
		return
	}
	to.set(l.left-1, l.axisRow, c.Glyphs.corner, Role{Kind: AxisLine})
	for x := range l.width {
		to.set(l.left+x, l.axisRow, c.Glyphs.floor, Role{Kind: AxisLine})
	}
	for _, v := range roundTicks(x0, x1, max(2, l.width/9)) {
		label := c.formatX(v)
		n := utf8.RuneCountInString(label)
		x := l.left + columnOf(v, x0, x1, l.width)
		at := min(max(x-n/2, 0), to.w-n)
		if at < 0 || !to.free(at-1, l.labelRow, n+1) && at > 0 || !to.free(at, l.labelRow, n) {
			continue
		}
		to.set(x, l.axisRow, c.Glyphs.tick, Role{Kind: AxisLine})
		to.text(at, l.labelRow, label, Role{Kind: AxisLabel})
	}
}

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
			if n := len(g.numbers); g.x+n <= to.w {
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
		number := strconv.Itoa(m.Number)
		if n := len(out); n > 0 && out[n-1].x == x {
			out[n-1].numbers += "," + number
			out[n-1].text += ", " + m.Text
			continue
		}
		out = append(out, markerGroup{x, number, m.Text})
	}
	return out
}

// markerText writes ▲number text below the axis: as much as fits before the next
// marker, shifted left at the right edge; the first free column behind it is
// returned.
func (c *Chart) markerText(to *canvas, l layout, g markerGroup, limit, from int) int {
	short := c.Glyphs.pointer + g.numbers
	full := short
	if g.text != "" {
		full += " " + g.text
	}
	for _, s := range []string{full, short} {
		n := utf8.RuneCountInString(s)
		at := g.x
		if limit == to.w {
			at = min(at, to.w-n)
		}
		if at >= from && at+n <= limit {
			to.text(at, l.markerRow, s, Role{Kind: MarkerNumber})
			return at + n + 1
		}
	}
	return from
}

func (c *Chart) drawReference(to *canvas, l layout, s scale) {
	r := c.Reference
	if r == nil || l.bracketCol < 0 || !finite(r.Low) || !finite(r.Mid) || !finite(r.High) {
		return
	}
	role := Role{Kind: ReferenceBracket}
	top := float64(l.height) - 0.5
	low, mid, high := s.rowOf(r.Low), s.rowOf(r.Mid), s.rowOf(r.High)
	switch {
	case low > top:
		to.set(l.bracketCol, 0, c.Glyphs.above, role)
		return
	case high < -0.5:
		to.set(l.bracketCol, l.height-1, c.Glyphs.below, role)
		return
	}
	put := func(row float64, glyph string) {
		if row >= -0.5 && row < top {
			to.set(l.bracketCol, l.height-1-int(math.Round(row)), glyph, role)
		}
	}
	for row := math.Max(0, math.Round(low)); row <= math.Min(high, top); row++ {
		put(row, c.Glyphs.bracket[1])
	}
	put(high, c.Glyphs.bracket[0])
	put(low, c.Glyphs.bracket[2])
	put(mid, c.Glyphs.bracket[3])
}
