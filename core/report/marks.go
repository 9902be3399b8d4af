package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// points pairs the mark's x with y.
func (m mark) points(y []float64) plotter.XYs {
	all := make(plotter.XYs, len(m.x))
	for i := range all {
		all[i].X, all[i].Y = m.x[i], y[i]
	}
	return all
}

// line returns the style of the mark's lines.
func (m mark) line() vgdraw.LineStyle {
	s := vgdraw.LineStyle{Color: shade(m.color, 0xff), Width: vg.Points(1.8), Dashes: dashes[m.color/len(palette)%len(dashes)]}
	switch m.kind {
	case markThin:
		s.Width = vg.Points(1.1)
	case markDashed:
		s.Width, s.Dashes = vg.Points(1), []vg.Length{vg.Points(3), vg.Points(3)}
	case markCurve:
		s.Width, s.Dashes = vg.Points(1), []vg.Length{vg.Points(1), vg.Points(2)}
	case markPaper, markOther, markMean:
		s.Width, s.Dashes = vg.Points(1.4), nil
	}
	return s
}

// glyph returns the style of the mark's points.
func (m mark) glyph() vgdraw.GlyphStyle {
	s := vgdraw.GlyphStyle{Color: shade(m.color, 0xc0), Radius: vg.Points(2.8), Shape: vgdraw.CircleGlyph{}}
	switch m.kind {
	case markThin:
		s.Radius = vg.Points(1.6)
	case markCurve:
		s.Shape = vgdraw.CrossGlyph{}
	case markCross:
		s.Shape, s.Radius = vgdraw.CrossGlyph{}, vg.Points(4)
	case markMean:
		s.Color, s.Shape, s.Radius = color.Black, vgdraw.BoxGlyph{}, vg.Points(2.6)
	case markPaper:
		s.Color, s.Shape = color.Black, vgdraw.TriangleGlyph{}
	case markOther:
		s.Color, s.Shape = color.Gray{0x60}, vgdraw.CrossGlyph{}
	}
	return s
}

// plotters draw the mark.
func (m mark) plotters() ([]plot.Plotter, error) {
	switch m.kind {
	case markBand:
		outline := append(m.points(m.upper), reversed(m.points(m.y))...)
		area, err := plotter.NewPolygon(outline)
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = shade(m.color, 0x38), 0
		return []plot.Plotter{area}, nil
	case markBar:
		x, half := m.x[0], 0.3
		bar, err := plotter.NewPolygon(plotter.XYs{{X: x - half, Y: m.y[0]}, {X: x + half, Y: m.y[0]}, {X: x + half, Y: m.upper[0]}, {X: x - half, Y: m.upper[0]}})
		if err != nil {
			return nil, err
		}
		bar.Color, bar.LineStyle.Width = shade(m.color, 0xff), 0
		return []plot.Plotter{bar}, nil
	case markMean, markPaper, markOther:
		return m.interval()
	}
	line, dots, err := plotter.NewLinePoints(m.points(m.y))
	if err != nil {
		return nil, err
	}
	line.LineStyle, dots.GlyphStyle = m.line(), m.glyph()
	switch {
	case m.kind == markPoint, m.kind == markCross:
		return []plot.Plotter{dots}, nil
	case m.kind == markThin, m.kind == markCurve:
		return []plot.Plotter{line, dots}, nil
	}
	return []plot.Plotter{line}, nil
}

// interval draws a bar from y to upper with a point on it, at the second y if there is
// one, else in the middle.
func (m mark) interval() ([]plot.Plotter, error) {
	low, high := m.y[0], m.upper[0]
	middle := (low + high) / 2
	if len(m.y) > 1 {
		middle = m.y[1]
	}
	bar, err := plotter.NewLine(plotter.XYs{{X: m.x[0], Y: low}, {X: m.x[0], Y: high}})
	if err != nil {
		return nil, err
	}
	dot, err := plotter.NewScatter(plotter.XYs{{X: m.x[0], Y: middle}})
	if err != nil {
		return nil, err
	}
	dot.GlyphStyle = m.glyph()
	bar.LineStyle = m.line()
	bar.LineStyle.Color = dot.GlyphStyle.Color
	return []plot.Plotter{bar, dot}, nil
}

func reversed(p plotter.XYs) plotter.XYs {
	slices.Reverse(p)
	return p
}

// entry is a line of the legend.
type entry struct {
	mark
	band bool
}

// legendOf lists what the panels show, each entry once. In panels with named places only
// the shape of a mark counts: its colour adds nothing to the name.
func legendOf(panels []panel) []entry {
	var all []entry
	for _, p := range panels {
		for i, m := range p.marks {
			same := func(e entry) bool {
				return e.label == m.label && e.kind == m.kind && (e.color == m.color || p.names != nil && m.kind != markBar)
			}
			if m.label == "" || slices.ContainsFunc(all, same) {
				continue
			}
			e := entry{mark: m, band: i > 0 && p.marks[i-1].kind == markBand && p.marks[i-1].color == m.color}
			if p.names != nil && m.kind == markPoint {
				e.color = 7 // grey: it stands for all colours
			}
			all = append(all, e)
		}
	}
	return all
}

// letters is the text style of the legend.
var letters = text.Style{
	Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(9)}, Handler: plot.DefaultTextHandler,
	YAlign: text.YCenter,
}

const sampleWidth = 24 * vg.Inch / 72

func (e entry) width() vg.Length { return sampleWidth + letters.Width(e.label) + 3*margin }

// draw puts the entry's sample and label at a point, its left middle.
func (e entry) draw(c vgdraw.Canvas, at vg.Point) {
	end, middle := vg.Point{X: at.X + sampleWidth, Y: at.Y}, vg.Point{X: at.X + sampleWidth/2, Y: at.Y}
	box := func(half vg.Length, fill color.Color) {
		c.FillPolygon(fill, []vg.Point{{X: at.X, Y: at.Y - half}, {X: end.X, Y: at.Y - half}, {X: end.X, Y: at.Y + half}, {X: at.X, Y: at.Y + half}})
	}
	switch e.kind {
	case markBar:
		box(vg.Points(4), shade(e.color, 0xff))
	case markPoint, markCross:
		c.DrawGlyph(e.glyph(), middle)
	case markMean, markPaper, markOther:
		s := e.line()
		s.Color = e.glyph().Color
		c.StrokeLine2(s, middle.X, at.Y-vg.Points(5), middle.X, at.Y+vg.Points(5))
		c.DrawGlyph(e.glyph(), middle)
	default:
		if e.band {
			box(vg.Points(4), shade(e.color, 0x38))
		}
		c.StrokeLine2(e.line(), at.X, at.Y, end.X, at.Y)
		if e.kind == markCurve {
			c.DrawGlyph(e.glyph(), middle)
		}
	}
	c.FillText(letters, vg.Point{X: end.X + margin*0.75, Y: at.Y + vg.Points(0.8)}, e.label)
}
