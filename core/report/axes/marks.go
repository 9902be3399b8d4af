package axes

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
func (m Mark) points(y []float64) plotter.XYs {
	all := make(plotter.XYs, len(m.X))
	for i := range all {
		all[i].X, all[i].Y = m.X[i], y[i]
	}
	return all
}

// line returns the style of the mark's lines.
func (m Mark) line() vgdraw.LineStyle {
	s := vgdraw.LineStyle{Color: shade(m.Color, 0xff), Width: vg.Points(1.8), Dashes: dashes[m.Color/len(palette)%len(dashes)]}
	switch m.Kind {
	case Thin:
		s.Width = vg.Points(1.1)
	case Dashed:
		s.Width, s.Dashes = vg.Points(1), []vg.Length{vg.Points(3), vg.Points(3)}
	case Curve:
		s.Width, s.Dashes = vg.Points(1), []vg.Length{vg.Points(1), vg.Points(2)}
	case Paper, Other, Interval:
		s.Width, s.Dashes = vg.Points(1.4), nil
	}
	return s
}

// glyph returns the style of the mark's points.
func (m Mark) glyph() vgdraw.GlyphStyle {
	s := vgdraw.GlyphStyle{Color: shade(m.Color, 0xc0), Radius: vg.Points(2.8), Shape: vgdraw.CircleGlyph{}}
	switch m.Kind {
	case Thin:
		s.Radius = vg.Points(1.6)
	case Curve:
		s.Shape = vgdraw.CrossGlyph{}
	case Cross:
		s.Shape, s.Radius = vgdraw.CrossGlyph{}, vg.Points(4)
	case Interval:
		s.Color, s.Shape, s.Radius = color.Black, vgdraw.BoxGlyph{}, vg.Points(2.6)
	case Paper:
		s.Color, s.Shape = color.Black, vgdraw.TriangleGlyph{}
	case Other:
		s.Color, s.Shape = color.Gray{0x60}, vgdraw.CrossGlyph{}
	}
	return s
}

// plotters draw the mark.
func (m Mark) plotters() ([]plot.Plotter, error) {
	switch m.Kind {
	case Band:
		outline := append(m.points(m.Upper), reversed(m.points(m.Y))...)
		area, err := plotter.NewPolygon(outline)
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = shade(m.Color, 0x38), 0
		return []plot.Plotter{area}, nil
	case Bar:
		x, half := m.X[0], 0.3
		bar, err := plotter.NewPolygon(plotter.XYs{{X: x - half, Y: m.Y[0]}, {X: x + half, Y: m.Y[0]}, {X: x + half, Y: m.Upper[0]}, {X: x - half, Y: m.Upper[0]}})
		if err != nil {
			return nil, err
		}
		bar.Color, bar.LineStyle.Width = shade(m.Color, 0xff), 0
		return []plot.Plotter{bar}, nil
	case Interval, Paper, Other:
		return m.interval()
	}
	line, dots, err := plotter.NewLinePoints(m.points(m.Y))
	if err != nil {
		return nil, err
	}
	line.LineStyle, dots.GlyphStyle = m.line(), m.glyph()
	switch {
	case m.Kind == Dot, m.Kind == Cross:
		return []plot.Plotter{dots}, nil
	case m.Kind == Thin, m.Kind == Curve:
		return []plot.Plotter{line, dots}, nil
	}
	return []plot.Plotter{line}, nil
}

// interval draws a bar from y to upper with a point on it, at the second y if there is
// one, else in the middle.
func (m Mark) interval() ([]plot.Plotter, error) {
	low, high := m.Y[0], m.Upper[0]
	middle := (low + high) / 2
	if len(m.Y) > 1 {
		middle = m.Y[1]
	}
	bar, err := plotter.NewLine(plotter.XYs{{X: m.X[0], Y: low}, {X: m.X[0], Y: high}})
	if err != nil {
		return nil, err
	}
	dot, err := plotter.NewScatter(plotter.XYs{{X: m.X[0], Y: middle}})
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
	Mark
	band bool
}

// legendOf lists what the panels show, each entry once. In panels with named places only
// the shape of a mark counts: its colour adds nothing to the name.
func legendOf(panels []Panel) []entry {
	var all []entry
	for _, p := range panels {
		for i, m := range p.Marks {
			same := func(e entry) bool {
				return e.Label == m.Label && e.Kind == m.Kind && (e.Color == m.Color || p.Names != nil && m.Kind != Bar)
			}
			if m.Label == "" || slices.ContainsFunc(all, same) {
				continue
			}
			e := entry{Mark: m, band: i > 0 && p.Marks[i-1].Kind == Band && p.Marks[i-1].Color == m.Color}
			if p.Names != nil && m.Kind == Dot {
				e.Color = 7 // grey: it stands for all colours
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

func (e entry) width() vg.Length { return sampleWidth + letters.Width(e.Label) + 3*margin }

// draw puts the entry's sample and label at a point, its left middle.
func (e entry) draw(c vgdraw.Canvas, at vg.Point) {
	end, middle := vg.Point{X: at.X + sampleWidth, Y: at.Y}, vg.Point{X: at.X + sampleWidth/2, Y: at.Y}
	box := func(half vg.Length, fill color.Color) {
		c.FillPolygon(fill, []vg.Point{{X: at.X, Y: at.Y - half}, {X: end.X, Y: at.Y - half}, {X: end.X, Y: at.Y + half}, {X: at.X, Y: at.Y + half}})
	}
	switch e.Kind {
	case Bar:
		box(vg.Points(4), shade(e.Color, 0xff))
	case Dot, Cross:
		c.DrawGlyph(e.glyph(), middle)
	case Interval, Paper, Other:
		s := e.line()
		s.Color = e.glyph().Color
		c.StrokeLine2(s, middle.X, at.Y-vg.Points(5), middle.X, at.Y+vg.Points(5))
		c.DrawGlyph(e.glyph(), middle)
	default:
		if e.band {
			box(vg.Points(4), shade(e.Color, 0x38))
		}
		c.StrokeLine2(e.line(), at.X, at.Y, end.X, at.Y)
		if e.Kind == Curve {
			c.DrawGlyph(e.glyph(), middle)
		}
	}
	c.FillText(letters, vg.Point{X: end.X + margin*0.75, Y: at.Y + vg.Points(0.8)}, e.Label)
}
