package axes

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette is that of Okabe and Ito (2008), whose colours people with any colour vision
// can tell apart. Grey replaces its yellow, which is too light for lines.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff}, {0x80, 0x80, 0x80, 0xff},
}

// dashes tell lines apart in print, and when the palette repeats.
var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(2)}, {vg.Points(2), vg.Points(2)}, {vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}}

func shade(i int, alpha uint8) color.NRGBA {
	c := palette[i%len(palette)]
	c.A = alpha
	return c
}

// Sizes of a figure.
const (
	panelWidth  = 4.6 * vg.Inch
	panelHeight = 3.3 * vg.Inch
	legendLine  = 15 * vg.Inch / 72
	margin      = 8 * vg.Inch / 72
)

// Draw draws panels, as "svg" or "png", in a grid, with one legend below them all.
func Draw(w io.Writer, format string, panels []Panel) error {
	columns := int(math.Ceil(math.Sqrt(float64(len(panels)))))
	rows := (len(panels) + columns - 1) / columns
	legend := legendOf(panels)
	widest := vg.Length(0)
	for _, e := range legend {
		widest = max(widest, e.width())
	}
	width := max(panelWidth*vg.Length(columns), widest+2*margin)
	across := max(1, int((width-2*margin)/max(widest, 1)))
	strip := legendLine*vg.Length((len(legend)+across-1)/across) + margin
	height := panelHeight*vg.Length(rows) + strip

	canvas, write, err := newCanvas(format, width, height)
	if err != nil {
		return err
	}
	all := vgdraw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	var plots []*plot.Plot
	for _, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return err
		}
		plots = append(plots, drawn)
	}
	tile(plots, columns, rows, vgdraw.Crop(all, 0, 0, strip, 0))
	for i, e := range legend {
		column, line := i%across, i/across
		e.draw(all, vg.Point{X: margin + vg.Length(column)*(width-2*margin)/vg.Length(across), Y: strip - legendLine*(vg.Length(line)+0.7)})
	}
	_, err = write.WriteTo(w)
	return err
}

func newCanvas(format string, width, height vg.Length) (vg.CanvasSizer, io.WriterTo, error) {
	switch format {
	case "svg":
		c := vgsvg.New(width, height)
		return c, c, nil
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
		return c, vgimg.PngCanvas{Canvas: c}, nil
	}
	return nil, nil, fmt.Errorf("there is no format %q of figures: want svg or png", format)
}

// tile draws plots in a grid with aligned axes.
func tile(plots []*plot.Plot, columns, rows int, area vgdraw.Canvas) {
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
		copy(grid[i], plots[i*columns:min(len(plots), (i+1)*columns)])
	}
	tiles := vgdraw.Tiles{
		Rows: rows, Cols: columns, PadX: margin, PadY: margin,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin,
	}
	at := plot.Align(grid, tiles, area)
	for i := range grid {
		for j, p := range grid[i] {
			if p != nil {
				p.Draw(at[i][j])
			}
		}
	}
}

// plot returns the axes of a panel with its marks.
func (p Panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X, p.Y
	style(out)
	grid := plotter.NewGrid()
	for _, l := range []*vgdraw.LineStyle{&grid.Horizontal, &grid.Vertical} {
		l.Color, l.Width, l.Dashes = color.Gray{0xe4}, vg.Points(0.5), nil
	}
	out.Add(grid)
	out.X.Tick.Marker, out.Y.Tick.Marker = ticks{}, ticks{}
	if p.Names != nil {
		out.NominalX(p.Names...)
		out.X.Min, out.X.Max = -0.6, float64(len(p.Names))-0.4
		grid.Vertical.Color = nil
	}
	if p.LogX {
		out.X.Scale, out.X.Tick.Marker = plot.LogScale{}, p.places()
	}
	marks := slices.Clone(p.Marks)
	slices.SortStableFunc(marks, func(a, b Mark) int {
		if a.Below == b.Below {
			return 0
		}
		if a.Below {
			return -1
		}
		return 1
	})
	for _, m := range marks {
		plotters, err := m.plotters()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", p.Title, err)
		}
		out.Add(plotters...)
	}
	if p.LogX {
		out.X.Min, out.X.Max = out.X.Min/1.3, out.X.Max*1.3
	} else if out.X.Min == out.X.Max { // a single step: avoid an axis of fractions of it
		out.X.Min, out.X.Max = 0, max(1, 1.25*out.X.Max)
	}
	room(out)
	return out, nil
}

// room adds a margin above and below the marks. The axis of values that are never
// negative begins at zero.
func room(p *plot.Plot) {
	low, high := p.Y.Min, p.Y.Max
	air := 0.05 * (high - low)
	if air == 0 {
		air = max(1, 0.05*math.Abs(high))
	}
	p.Y.Max = high + air
	if low >= 0 {
		p.Y.Min = 0
		return
	}
	p.Y.Min = low - air
}

// places returns ticks at the x of the marks.
func (p Panel) places() plot.ConstantTicks {
	var all plot.ConstantTicks
	seen := map[float64]bool{}
	for _, m := range p.Marks {
		for _, x := range m.X {
			if !seen[x] {
				all = append(all, plot.Tick{Value: x, Label: Short(int(x))})
			}
			seen[x] = true
		}
	}
	return all
}

// style sets sans-serif letters and dark grey axes.
func style(p *plot.Plot) {
	sans := func(s *text.Style, size float64) {
		s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	}
	sans(&p.Title.TextStyle, 11)
	p.Title.Padding = vg.Points(6)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		sans(&a.Label.TextStyle, 9.5)
		sans(&a.Tick.Label, 8.5)
		a.LineStyle.Color, a.Tick.LineStyle.Color = color.Gray{0x60}, color.Gray{0x60}
		a.Label.Padding = vg.Points(4)
	}
}

// ticks places about six ticks, at multiples of 1, 2 or 5 times a power of ten;
// thousands are written as K.
type ticks struct{}

func (ticks) Ticks(low, high float64) []plot.Tick {
	size := math.Pow(10, math.Floor(math.Log10((high-low)/6)))
	for _, k := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (high-low)/size <= 6.5 {
			break
		}
		size *= k
	}
	var all []plot.Tick
	for i := math.Ceil(low/size-1e-9) + 0; i*size <= high+1e-9*size; i++ {
		v := i*size + 0 // no -0
		label := strconv.FormatFloat(v, 'f', max(0, int(-math.Floor(math.Log10(size)+1e-9))), 64)
		if math.Abs(v) >= 1000 {
			label = strconv.FormatFloat(v/1000, 'f', -1, 64) + "K"
		}
		all = append(all, plot.Tick{Value: v, Label: label})
	}
	return all
}
