package generator

import (
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// The least size of a picture of a number of the observation, in cells.
const (
	worldWidth  = 36
	worldHeight = 6
)

// worldBody is what the learner's model of the world predicts: its errors by horizon, and numbers of the
// observation, or frames, as they were and as they were predicted.
func (p *Pane) worldBody(w, h int) []string {
	t, all := p.Theme, p.History.OpenLoop
	if all == nil {
		return p.Waiting("predictions without observations are measured at each evaluation", w, h)
	}
	out := p.worldErrors(all, w)
	if h-len(out) < worldHeight-1 {
		return out
	}
	if all.Frames != nil {
		return append(out, p.worldFrames(all.Frames, w, h-len(out))...)
	}
	across, down := worldGrid(len(all.Shown), w, h-len(out))
	cell, high := w/across, (h-len(out))/down
	for first := 0; first < min(len(all.Shown), across*down); first += across {
		var pictures [][]string
		for i := first; i < min(first+across, len(all.Shown)); i++ {
			pictures = append(pictures, p.worldPicture(all, all.Shown[i], cell-1, high))
		}
		for line := range high {
			var b strings.Builder
			for _, picture := range pictures {
				b.WriteString(t.Fit(picture[line], cell))
			}
			out = append(out, b.String())
		}
	}
	return out
}

// worldGrid is how many of n pictures stand side by side, and how many below each other, in w by h cells.
func worldGrid(n, w, h int) (across, down int) {
	across, down = max(1, w/worldWidth), max(1, h/worldHeight)
	down = min(down, max(1, (n+across-1)/across))
	return max(1, min(across, (n+down-1)/down)), down
}

// worldErrors are the errors by horizon, and what they compare with.
func (p *Pane) worldErrors(all *event.OpenLoop, w int) (out []string) {
	t := p.Theme
	if len(all.Horizon) == 0 {
		return nil
	}
	row := func(name string, errors []float64) string {
		text := t.Dim.On(t.Fit(name, 8))
		for _, e := range errors[:min(len(errors), max(0, w-8)/7)] {
			text += t.Fit(format.Number(e), 7)
		}
		return text
	}
	steps := t.Fit("steps", 8)
	for _, h := range all.Horizon[:min(len(all.Horizon), max(0, w-8)/7)] {
		steps += t.Fit(format.Count(h), 7)
	}
	out = []string{t.Dim.On(steps), row("error", numbers(all.Error)), row("held", numbers(all.Held))}
	if all.Reward != nil {
		out = append(out, row("reward", numbers(all.Reward)))
	}
	return out
}

// worldPicture draws a number of the observation, below a line with its name.
func (p *Pane) worldPicture(all *event.OpenLoop, n event.OpenLoopNumber, w, h int) []string {
	t := p.Theme
	name := "number " + format.Count(n.Number)
	if n.Number < len(p.About.Names) {
		name = p.About.Names[n.Number]
	}
	points := func(values []float64) (out []chart.Point) {
		for i, v := range values {
			out = append(out, chart.Point{X: float64(i + 1 - all.Context), Y: v})
		}
		return out
	}
	plot := chart.Chart{
		Series:  []chart.Series{{Points: points(numbers(n.Predicted)), Look: 2}, {Points: points(numbers(n.Real)), Look: 1}},
		Markers: []chart.Marker{{X: 0.5}}, Glyphs: t.Chart, Paint: t.Paint,
	}
	title := name + t.Dim.On(" error ") + format.Number(float64(n.Error))
	return append([]string{t.Fit(title, w)}, plot.Lines(w, h-1)...)
}

// numbers are the values of a line of the journal.
func numbers[F ~float64](values []F) (out []float64) {
	for _, v := range values {
		out = append(out, float64(v))
	}
	return out
}

// worldNote is the legend.
func (p *Pane) worldNote(w int) string {
	if p.History.OpenLoop == nil {
		return ""
	}
	t := p.Theme
	if p.History.OpenLoop.Frames != nil {
		legend := "above real" + t.Dim.On(", below predicted")
		return theme.Longest([]string{legend, legend + t.Dim.On(" from the actions alone")}, w)
	}
	sample := func(look int, name string) string {
		return t.Series[look%len(t.Series)].On(t.Chart.Sample(look, chart.Line)) + t.Dim.On(" "+name)
	}
	legend := sample(0, "real") + " " + sample(1, "predicted")
	return theme.Longest([]string{legend, legend + t.Dim.On(" after │ without observations")}, w)
}
