package chart

import (
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"
)

// axisGlyph is the piece of the vertical axis beside a label.
func (g Glyphs) axisGlyph(label string) string {
	if label == "" && g.axis == "┤" {
		return "│"
	}
	return g.axis
}

// drawSeries draws the line of one series and, behind it, the span of the values that share a
// column.
func (c *Chart) drawSeries(to *canvas, l layout, s scale, n int, x0, x1 float64) {
	switch {
	case c.Series[n].Draw == Dots:
		return
	case c.Glyphs.braille:
		c.drawBraille(to, l, s, n, x0, x1)
		return
	}
	columns := Decimate(c.Series[n].line(), x0, x1, l.width)
	look := c.look(n)
	role := Role{Kind: SeriesLine, Series: look}
	for x, col := range columns {
		if col.N < 2 {
			continue
		}
		for row := s.clip(col.Min); row <= s.clip(col.Max); row++ {
			to.set(l.left+x, l.height-1-row, c.Glyphs.span, role)
		}
	}
	for y, line := range plotLine(columns, s, c.Glyphs.lines[look%len(c.Glyphs.lines)]) {
		x := 0
		for _, r := range line {
			if r != ' ' {
				to.set(l.left+x, y, string(r), role)
			}
			x++
		}
	}
}

// drawBand fills the area between Low and High of a series, behind all lines.
func (c *Chart) drawBand(to *canvas, l layout, s scale, n int, x0, x1 float64) {
	low, high := Decimate(c.Series[n].Low, x0, x1, l.width), Decimate(c.Series[n].High, x0, x1, l.width)
	role := Role{Kind: SeriesBand, Series: c.look(n)}
	for x := range low {
		if math.IsNaN(low[x].Value) || math.IsNaN(high[x].Value) {
			continue
		}
		for row := s.clip(low[x].Value); row <= s.clip(high[x].Value); row++ {
			to.set(l.left+x, l.height-1-row, c.Glyphs.band, role)
		}
	}
}

// drawNoise fills the blank cells of the noise band.
func (c *Chart) drawNoise(to *canvas, l layout, s scale, x0, x1 float64) {
	low, high := Decimate(c.Noise.Low, x0, x1, l.width), Decimate(c.Noise.High, x0, x1, l.width)
	for x := range low {
		if math.IsNaN(low[x].Value) || math.IsNaN(high[x].Value) {
			continue
		}
		from, top := math.Round(s.rowOf(low[x].Value)), math.Round(s.rowOf(high[x].Value))
		for row := math.Max(0, from); row <= math.Min(top, float64(s.rows-1)); row++ {
			if y := l.height - 1 - int(row); to.blank(l.left+x, y) {
				to.set(l.left+x, y, c.Glyphs.noise, Role{Kind: NoiseBand})
			}
		}
	}
}

// drawFalls puts a sign over the dots of falls.
func (c *Chart) drawFalls(to *canvas, l layout, s scale, x0, x1 float64) {
	for _, p := range c.Falls {
		if finite(p.X) && finite(p.Y) && p.X >= x0 && p.X <= x1 {
			to.set(l.left+columnOf(p.X, x0, x1, l.width), l.height-1-s.clip(p.Y), c.Glyphs.fall, Role{Kind: FallSign})
		}
	}
}

// look is the number of the glyphs and the colour of the n-th series, counted from 0.
func (c *Chart) look(n int) int {
	if look := c.Series[n].Look; look > 0 {
		return look - 1
	}
	return n
}

// clip is the row of v, clipped to the plot: otherwise asciigraph would grow the plot.
func (s scale) clip(v float64) int {
	return int(math.Round(math.Min(math.Max(s.rowOf(v), 0), float64(s.rows-1))))
}

// plotLine lets asciigraph draw one line; it returns s.rows strings, without an axis.
//
// asciigraph draws the step from value i to value i+1 in column i, so n columns take n+1 values.
// The first value is doubled, so that each column ends at its own value. The values are row numbers
// between bounds 0 and rows-1, so that one row is one unit and asciigraph's Height, which counts
// intervals, fits.
func plotLine(columns []Column, s scale, glyphs asciigraph.CharSet) []string {
	values := make([]float64, 1, len(columns)+1)
	any := false
	for i, col := range columns {
		v := math.NaN()
		if !math.IsNaN(col.Value) {
			v, any = float64(s.clip(col.Value)), true
		}
		if i == 0 {
			values[0] = v
		}
		values = append(values, v)
	}
	if !any {
		return nil
	}
	if s.rows == 1 { // asciigraph takes Height 0 as "choose one"
		return []string{flatLine(values[1:], glyphs)}
	}
	text := asciigraph.Plot(values,
		asciigraph.Height(s.rows-1),
		asciigraph.LowerBound(0), asciigraph.UpperBound(float64(s.rows-1)),
		asciigraph.Offset(1), // only the axis, in column 0
		asciigraph.YAxisValueFormatter(func(float64) string { return "" }),
		asciigraph.SeriesChars(glyphs))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		_, width := splitFirst(line)
		lines[i] = line[width:]
	}
	return lines
}

// splitFirst is the first character of s and its length in bytes.
func splitFirst(s string) (rune, int) {
	for _, r := range s {
		return r, len(string(r))
	}
	return 0, 0
}

func flatLine(values []float64, glyphs asciigraph.CharSet) string {
	var b strings.Builder
	for _, v := range values {
		if math.IsNaN(v) {
			b.WriteByte(' ')
		} else {
			b.WriteString(glyphs.Horizontal)
		}
	}
	return b.String()
}

// drawDots puts a dot at the smallest and the largest value measured in a column.
func (c *Chart) drawDots(to *canvas, l layout, s scale, n int, columns []Column) {
	look := c.look(n)
	glyph := c.Glyphs.dots[look%len(c.Glyphs.dots)]
	role := Role{Kind: SeriesDot, Series: look}
	for x, col := range columns {
		if col.N > 0 {
			to.set(l.left+x, l.height-1-s.clip(col.Min), glyph, role)
			to.set(l.left+x, l.height-1-s.clip(col.Max), glyph, role)
		}
	}
}
