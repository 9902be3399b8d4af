package chart

import (
	"math"
	"slices"
)

// Draw says how a series appears.
type Draw uint8

// The ways to draw a series.
const (
	Line Draw = iota
	Dots
	LineAndDots
)

// Series is one measured quantity, ascending in X. Its look selects glyphs and colour, so that
// series differ even without colour.
type Series struct {
	Points []Point
	Draw   Draw
	// Smooth, if not empty, is drawn as the line in place of Points; the dots stay where they were
	// measured, over that line.
	Smooth []Point
	// Low and High are the lower and upper bound of a band behind the line; if empty there is no
	// band.
	Low, High []Point
	// Look numbers glyphs and colour from 1; 0 means the place in Chart.Series.
	Look int
	// Label stands after the end of the line, if there is room for such labels.
	Label string
}

// Marker is a vertical line at X with a short label, such as "2"; Text stands beside the label
// below the axis if there is room. Markers ascend in X.
type Marker struct {
	X     float64
	Label string
	Text  string
}

// Reference is a value to compare with, drawn as a bracket from Low to High at X, where it was
// measured; outside the horizontal range it is not drawn. It does not widen the vertical range;
// outside that range it is drawn as an arrow. A faint reference is not comparable with the data: it
// was measured at another scale.
type Reference struct {
	X, Low, Mid, High float64
	Faint             bool
}

// Level is a dotted horizontal line to compare with, drawn only where cells are blank, with a label
// at its right end if there is room. It does not widen the vertical range, and is not drawn outside
// it.
type Level struct {
	Y     float64
	Label string
}

// Band is an area to compare with, ascending in X. It does not widen the vertical range; what lies
// outside it is not drawn.
type Band struct{ Low, High []Point }

// Chart is what to draw. The zero value is an empty chart.
type Chart struct {
	Series     []Series // earlier series are drawn over later ones
	Markers    []Marker
	Applied    []float64 // faint ticks on the horizontal axis
	References []Reference
	Levels     []Level
	Noise      Band     // behind everything else
	Falls      []Point  // measurements with a sign in place of their dot
	Fan        Fan      // below the series
	Ghost      Ghost    // where nothing else is but the noise
	Beyond     *Beyond  // at the right edge
	Cursor     *float64 // a vertical line at the position being inspected

	XMin, XMax float64   // the horizontal range; taken from the data if XMax ≤ XMin
	Include    []float64 // values the vertical range must contain
	Log        bool      // the vertical axis is logarithmic: values that are not positive become gaps
	Glyphs     Glyphs    // Unicode() or ASCII(); the zero value means Unicode()
	FormatX    func(float64) string
	Ticks      func(lo, hi float64, most int) []float64 // positions of the labels below the axis; nil: multiples of a round number
	FormatY    func(v, step float64) string             // step is the distance between two labels
	Paint      func(Role, string) string                // colours a piece; nil leaves it plain
}

// The least room for labels, and what must remain for the plot.
const (
	minPlotWidth  = 8
	markerRowFrom = 13 // lines from which the markers get a row of their own
	axisRowsFrom  = 5  // lines from which the horizontal axis has labels
)

// layout is where things stand: the plot covers columns left..left+width-1 and rows 0..height-1;
// the vertical axis is in column left-1.
type layout struct {
	left, width, height int
	axisRow, labelRow   int  // -1: none
	markerRow, axisCol  int  // -1: none
	ends                bool // there is room for labels after the lines
}

// Lines draws the chart into exactly h lines of exactly w columns each (no lines if either is below
// 1). It accepts any data: no points, a single point, a constant, NaN, ±Inf.
func (c *Chart) Lines(w, h int) []string {
	if w < 1 || h < 1 {
		return nil
	}
	c = c.prepared()
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

	c.drawAxes(canvas, l, labels, x0, x1)
	for i := len(c.Series) - 1; i >= 0; i-- {
		c.drawBand(canvas, l, s, i, x0, x1)
	}
	c.drawFan(canvas, l, s, x0, x1)
	for i := len(c.Series) - 1; i >= 0; i-- {
		c.drawSeries(canvas, l, s, i, x0, x1)
	}
	for i := len(c.Series) - 1; i >= 0; i-- {
		if c.Series[i].Draw != Line {
			c.drawDots(canvas, l, s, i, Decimate(c.Series[i].Points, x0, x1, l.width))
		}
	}
	c.drawFalls(canvas, l, s, x0, x1)
	for _, r := range c.References {
		c.drawReference(canvas, l, s, r, x0, x1)
	}
	if l.ends {
		c.drawEnds(canvas, l, s, x0, x1)
	}
	c.drawMarkers(canvas, l, x0, x1)
	for _, level := range c.Levels {
		c.drawLevel(canvas, l, s, level)
	}
	c.drawBeyond(canvas, l, s, x1)
	c.drawGhost(canvas, l, s, x0, x1)
	c.drawNoise(canvas, l, s, x0, x1)
	return canvas.lines(c.Paint)
}

// line is the data that the line of a series follows.
func (s Series) line() []Point {
	if len(s.Smooth) > 0 {
		return s.Smooth
	}
	return s.Points
}

// prepared is c as it will be drawn: with its glyphs, and with logarithms if the axis is
// logarithmic.
func (c *Chart) prepared() *Chart {
	d := *c
	if d.Glyphs.axis == "" {
		d.Glyphs = Unicode()
	}
	if !d.Log {
		return &d
	}
	d.Series = make([]Series, len(c.Series))
	for i, s := range c.Series {
		s.Points, s.Smooth = logarithms(s.Points), logarithms(s.Smooth)
		s.Low, s.High = logarithms(s.Low), logarithms(s.High)
		d.Series[i] = s
	}
	d.Fan, d.Ghost = c.Fan.logarithm(), c.Ghost.logarithm()
	if b := c.Beyond; b != nil {
		d.Beyond = &Beyond{b.Reference.logarithm(), b.Label}
	}
	d.Noise, d.Falls = Band{logarithms(c.Noise.Low), logarithms(c.Noise.High)}, logarithms(c.Falls)
	d.References = make([]Reference, len(c.References))
	for i, r := range c.References {
		d.References[i] = r.logarithm()
	}
	d.Levels = make([]Level, len(c.Levels))
	for i, level := range c.Levels {
		d.Levels[i] = Level{logarithm(level.Y), level.Label}
	}
	d.Include = nil
	for _, v := range c.Include {
		d.Include = append(d.Include, logarithm(v))
	}
	return &d
}

// logarithm is the reference on a logarithmic axis.
func (r Reference) logarithm() Reference {
	r.Low, r.Mid, r.High = logarithm(r.Low), logarithm(r.Mid), logarithm(r.High)
	return r
}

func logarithms(points []Point) []Point {
	out := make([]Point, len(points))
	for i, p := range points {
		out[i] = Point{p.X, logarithm(p.Y)}
	}
	return out
}

// logarithm is log10 v; a gap if v is not positive.
func logarithm(v float64) float64 {
	if !finite(v) || v <= 0 {
		return math.NaN()
	}
	return math.Log10(v)
}

func (c *Chart) formatY(v, step float64) string {
	if c.Log {
		v = math.Pow(10, v)
		step = math.Pow(10, math.Floor(math.Log10(math.Max(v, tiniest)))-1)
	}
	if c.FormatY != nil {
		return c.FormatY(v, step)
	}
	return FormatValue(v, step)
}

func (c *Chart) formatX(v float64) string {
	if c.FormatX != nil {
		return c.FormatX(v)
	}
	return FormatPlace(v)
}

// rows divides the h lines among plot, axes and labels.
func (c *Chart) rows(h int) layout {
	l := layout{height: h, axisRow: -1, labelRow: -1, markerRow: -1, axisCol: -1}
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

// columns divides the w columns among plot, axis and labels.
func (c *Chart) columns(l *layout, w int, labels []string) {
	widest := 0
	for _, s := range labels {
		widest = max(widest, textWidth(s))
	}
	l.width = w
	if w >= widest+2+minPlotWidth {
		l.axisCol = widest + 1
		l.left = widest + 2
	} else if w >= minPlotWidth {
		l.axisCol = 0
		l.left = 1
	}
	l.width = w - l.left
	if n := c.endsWidth(); n > 0 && l.width-n >= minPlotWidth {
		l.width -= n
		l.ends = true
	}
}

// xRange is the horizontal range; an empty range is widened, so that a single point has a place.
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
		for _, p := range slices.Concat(s.line(), s.Low, s.High) {
			if p.X >= x0 && p.X <= x1 {
				take(p.Y)
			}
		}
		if s.Draw == Line || len(s.Smooth) == 0 {
			continue
		}
		for _, p := range s.Points {
			if p.X >= x0 && p.X <= x1 {
				take(p.Y)
			}
		}
	}
	for _, p := range append(c.Fan.points(), c.Ghost.points()...) {
		if p.X >= x0 && p.X <= x1 {
			take(p.Y)
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
			if n := textWidth(label); l.axisCol > n {
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
	ticks := c.Ticks
	if ticks == nil {
		ticks = roundTicks
	}
	for _, v := range ticks(x0, x1, max(2, l.width/9)) {
		if !finite(v) || v < x0 || v > x1 {
			continue
		}
		label := c.formatX(v)
		n := textWidth(label)
		x := l.left + columnOf(v, x0, x1, l.width)
		at := min(max(x-n/2, 0), to.w-n)
		if at < 0 || !to.free(at-1, l.labelRow, n+1) && at > 0 || !to.free(at, l.labelRow, n) {
			continue
		}
		to.set(x, l.axisRow, c.Glyphs.tick, Role{Kind: AxisLine})
		to.text(at, l.labelRow, label, Role{Kind: AxisLabel})
	}
}
