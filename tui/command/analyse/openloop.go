package analyse

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// openLoopPictures show what a model of the world predicted beside what followed; none without one.
func openLoopPictures(title string, o *event.OpenLoop) (all []portrait) {
	if o == nil || len(o.Horizon) == 0 {
		return nil
	}
	p := newPlot(title+", open loop", "env steps without an observation", "error in deviations of each number")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, horizons(o.Horizon)
	var steps []float64
	for _, h := range o.Horizon {
		steps = append(steps, float64(h))
	}
	curve(p, "last observation held", steps, values(o.Held), inkReal)
	curve(p, "predicted", steps, values(o.Error), inkSynthetic)
	curve(p, "predicted reward", steps, values(o.Reward), inkOther)
	p.Y.Min, p.Y.Max = 0, 1.15*p.Y.Max // the legend has three lines
	all = append(all, portrait{"open-loop", p})
	if len(o.Shown) > 0 {
		all = append(all, portrait{"open-loop-numbers", openLoopNumbers(title, o)})
	}
	if o.Frames != nil {
		if sheet, err := o.Frames.Sheet(); err == nil {
			p := newPlot(title, "env steps without a frame; real frames above, predicted ones below", "")
			w, h := float64(sheet.Rect.Dx()), float64(sheet.Rect.Dy())
			p.Add(plotter.NewImage(sheet, 0, 0, w, h))
			around := (w*float64(pictureHeight/pictureWidth) - h) / 2 // squares stay squares
			p.Y.Min, p.Y.Max = -around, h+around
			p.HideY()
			p.X.Tick.Marker = frameSteps(o.Frames)
			all = append(all, portrait{"open-loop-frames", p})
		}
	}
	return all
}

// openLoopNumbers draws each number of the observation in a band of its own, in its own scale.
func openLoopNumbers(title string, o *event.OpenLoop) *plot.Plot {
	p := newPlot(title+", open loop", "env steps since the last observation", "")
	var ticks plot.ConstantTicks
	for i, n := range o.Shown {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range n.Real {
			low, high = math.Min(low, float64(v)), math.Max(high, float64(v))
		}
		band := func(of []run.Float) (steps, at []float64) {
			for t, v := range of {
				y := (float64(v) - low) / math.Max(high-low, 1e-9)
				steps, at = append(steps, float64(t+1-o.Context)), append(at, float64(len(o.Shown)-i)+0.8*math.Min(1.1, math.Max(-0.1, y)))
			}
			return steps, at
		}
		names := [2]string{}
		if i == 0 {
			names = [2]string{"real", "predicted"}
		}
		steps, at := band(n.Real)
		curve(p, names[0], steps, at, inkReal)
		_, at = band(n.Predicted)
		curve(p, names[1], steps, at, inkSynthetic)
		ticks = append(ticks, plot.Tick{Value: float64(len(o.Shown)-i) + 0.4, Label: fmt.Sprintf("number %d, error %.2g", n.Number, float64(n.Error))})
	}
	p.Y.Tick.Marker = ticks
	return p
}

// curve adds a line; without a name it has no entry in the legend.
func curve(p *plot.Plot, name string, x, y []float64, ink color.NRGBA) {
	var at plotter.XYs
	for i, v := range y {
		if finite(v) {
			at = append(at, plotter.XY{X: x[i], Y: v})
		}
	}
	line, err := plotter.NewLine(at)
	if err != nil {
		return // no points: nothing to draw
	}
	line.Color, line.Width = ink, vg.Points(1.25)
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
}

func values(of []run.Float) (all []float64) {
	for _, v := range of {
		all = append(all, float64(v))
	}
	return all
}

func horizons(all []int) (ticks plot.ConstantTicks) {
	for _, h := range all {
		ticks = append(ticks, plot.Tick{Value: float64(h), Label: fmt.Sprint(h)})
	}
	return ticks
}

// frameSteps names the columns of a sheet of frames.
func frameSteps(f *event.OpenLoopFrames) (ticks plot.ConstantTicks) {
	for i, step := range f.Steps {
		name := "seen"
		if step > 0 {
			name = fmt.Sprintf("+%d", step)
		}
		ticks = append(ticks, plot.Tick{Value: (float64(i) + 0.5) * float64(f.Side), Label: name})
	}
	return ticks
}
