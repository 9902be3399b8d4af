package analyse

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// Colours that people with colour blindness can tell apart (Okabe and Ito 2008).
var (
	inkReal      = color.NRGBA{R: 120, G: 120, B: 120, A: 255}
	inkSynthetic = color.NRGBA{R: 213, G: 94, A: 255}
	inkOther     = color.NRGBA{G: 114, B: 178, A: 255}
	inkFaint     = color.NRGBA{R: 225, G: 225, B: 225, A: 255}
)

const (
	pictureWidth  = 14 * vg.Centimeter
	pictureHeight = 10 * vg.Centimeter
)

// portrait is one picture of an analysis, with the name of its file.
type portrait struct {
	name string
	plot *plot.Plot
}

// drawPictures writes pictures into a folder, and their file names to said.
func drawPictures(dir string, all []portrait, said io.Writer) error {
	if err := cli.MakeFolder(dir, "pictures"); err != nil {
		return err
	}
	for _, p := range all {
		// Leave room for the legend above the plot.
		p.plot.Y.Max += 0.15 * (p.plot.Y.Max - p.plot.Y.Min)
		for kind, canvas := range map[string]vg.CanvasWriterTo{
			"svg": vgsvg.New(pictureWidth, pictureHeight),
			"png": vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(160))},
		} {
			if err := p.save(filepath.Join(dir, p.name+"."+kind), canvas); err != nil {
				return err
			}
		}
		fmt.Fprintln(said, filepath.Join(dir, p.name+".svg"), "and .png")
	}
	return nil
}

// save draws on a canvas with a margin and writes it to a file.
func (p portrait) save(path string, canvas vg.CanvasWriterTo) (err error) {
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	const margin = 3 * vg.Millimeter
	p.plot.Draw(draw.Crop(c, margin, -2*margin, margin, -margin))
	err = cli.WriteFile(path, func(w io.Writer) error { _, err := canvas.WriteTo(w); return err })
	if err != nil {
		return fmt.Errorf("write picture %s: %w", path, err)
	}
	return nil
}

func pictures(title string, e *event.Examined) (all []portrait) {
	if e.Real != nil {
		p := newPlot(title, "F = "+e.Relevance, "share of rows")
		bars(p, "real", e.Real, inkReal)
		bars(p, "synthetic", e.Synthetic, inkSynthetic)
		all = append(all, portrait{"relevance", p})
	}
	if e.DynamicsErrors != nil {
		p := newPlot(title, "error against the simulator, ½(mean Δs′² + Δr²)", "share of rows")
		p.X.Tick.Marker = powersOfTen{}
		bars(p, "Gaussian fit", e.GaussianErrors, inkReal)
		bars(p, "synthetic", e.DynamicsErrors, inkSynthetic)
		all = append(all, portrait{"dynamics", p})
	}
	if len(e.AskedAchieved) > 0 {
		all = append(all, portrait{"asked", promptFidelity(title, e)})
	}
	if j := e.Projection; j != nil {
		p := newPlot(fmt.Sprintf("%s, overlap %.2f", title, float64(j.Overlap)),
			fmt.Sprintf("first component, %.0f %% of the variance", 100*float64(j.Explained[0])),
			fmt.Sprintf("second component, %.0f %%", 100*float64(j.Explained[1])))
		points(p, "real", j.Real, inkReal)
		points(p, "without guidance", j.Free, inkOther)
		points(p, "guided", j.Guided, inkSynthetic)
		all = append(all, portrait{"projection", p})
		if t := j.Embedded; t != nil {
			p := newPlot(fmt.Sprintf("%s, t-SNE of %d + %d", title, len(t.Guided), len(t.Free)), "", "")
			p.HideAxes()
			points(p, "without guidance", t.Free, inkOther)
			points(p, "guided", t.Guided, inkSynthetic)
			all = append(all, portrait{"tsne", p})
		}
	}
	return append(all, openLoopPictures(title, e.OpenLoop)...)
}

// jointPictures show the generations of two runs.
func jointPictures(task string, j *inspect.Joint) (all []portrait) {
	var names [2]string
	for i, one := range j.Runs {
		names[i] = fmt.Sprintf("%s, step %d", one.Method, one.Step)
		if one.Method == j.Runs[1-i].Method && one.Step == j.Runs[1-i].Step {
			names[i] += fmt.Sprintf(", seed %d", one.Seed)
		}
	}
	p := newPlot(fmt.Sprintf("generations on %s, overlap %.2f", task, float64(j.Overlap)),
		fmt.Sprintf("first component, %.0f %% of the variance", 100*float64(j.Explained[0])),
		fmt.Sprintf("second component, %.0f %%", 100*float64(j.Explained[1])))
	points(p, names[1], j.Runs[1].Points, inkOther)
	points(p, names[0], j.Runs[0].Points, inkSynthetic)
	all = append(all, portrait{"together", p})
	if t := j.Embedded; t != nil {
		p := newPlot(fmt.Sprintf("generations on %s, t-SNE of %d + %d", task, len(t[0]), len(t[1])), "", "")
		p.HideAxes()
		points(p, names[1], t[1], inkOther)
		points(p, names[0], t[0], inkSynthetic)
		all = append(all, portrait{"together-tsne", p})
	}
	return all
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	p.BackgroundColor = color.White
	p.Legend.Top = true
	p.Legend.ThumbnailWidth = vg.Points(12)
	p.Legend.Padding = vg.Points(2)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = inkFaint, inkFaint
	p.Add(grid)
	return p
}

// bars adds a histogram as shares of its rows, so that samples of different size can be compared;
// nil adds nothing.
func bars(p *plot.Plot, name string, h *event.Histogram, ink color.NRGBA) {
	if h == nil || h.Rows == 0 {
		return
	}
	fill := ink
	fill.A = 110
	width := (h.High - h.Low) / event.Bins
	drawn := &plotter.Histogram{Width: width, FillColor: fill}
	drawn.LineStyle = draw.LineStyle{Color: ink, Width: vg.Points(0.75)}
	for i, n := range h.Counts {
		if n > 0 {
			low := h.Low + float64(i)*width
			drawn.Bins = append(drawn.Bins, plotter.HistogramBin{Min: low, Max: low + width, Weight: float64(n) / float64(h.Rows)})
		}
	}
	p.Add(drawn)
	p.Legend.Add(name, drawn)
	p.Y.Min = 0
}

// points adds a cloud of points; without points it adds nothing.
func points(p *plot.Plot, name string, at [][2]run.Float, ink color.NRGBA) {
	cloud := make(plotter.XYs, 0, len(at))
	for _, q := range at {
		if x, y := float64(q[0]), float64(q[1]); finite(x) && finite(y) {
			cloud = append(cloud, plotter.XY{X: x, Y: y})
		}
	}
	drawn, err := plotter.NewScatter(cloud)
	if err != nil {
		return // no points: nothing to draw
	}
	shade := ink
	shade.A = 150
	drawn.GlyphStyle = draw.GlyphStyle{Color: shade, Radius: vg.Points(1.3), Shape: draw.CircleGlyph{}}
	p.Add(drawn)
	thumb := *drawn
	thumb.Color, thumb.Radius = ink, vg.Points(3)
	p.Legend.Add(name, &thumb)
}

// promptFidelity plots the achieved F over the requested F, with the line where both are equal.
func promptFidelity(title string, e *event.Examined) *plot.Plot {
	p := newPlot(title, "F asked for ("+e.Relevance+", as of the last refit)", "F that came out, as of now")
	if g := e.Generated; g != nil && g.RankCorrelation != nil {
		p.Title.Text += fmt.Sprintf(", rank correlation %.2f", float64(*g.RankCorrelation))
	}
	points(p, "generated transition", e.AskedAchieved, inkSynthetic)
	low, high := math.Max(p.X.Min, p.Y.Min), math.Min(p.X.Max, p.Y.Max)
	if line, err := plotter.NewLine(plotter.XYs{{X: low, Y: low}, {X: high, Y: high}}); err == nil && low < high {
		line.Color, line.Width = inkReal, vg.Points(1)
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		p.Legend.Add("as asked", line)
	}
	return p
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// powersOfTen labels an axis of decimal logarithms with the numbers themselves.
type powersOfTen struct{}

// Ticks marks the whole powers, or every other one if there are many.
func (powersOfTen) Ticks(low, high float64) (ticks []plot.Tick) {
	every := max(1, int(math.Ceil((high-low)/8)))
	for p := int(math.Ceil(low)); float64(p) <= high; p++ {
		label := ""
		if p%every == 0 {
			label = fmt.Sprintf("1e%d", p)
		}
		ticks = append(ticks, plot.Tick{Value: float64(p), Label: label})
	}
	return ticks
}
