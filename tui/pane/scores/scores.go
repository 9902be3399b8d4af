// Package scores shows the distribution of F over real, synthetic and previewed
// transitions.
package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the distribution of F.
type Pane struct {
	*steer.Steering
}

// New makes the pane of the run that s steers.
func New(s *steer.Steering) *Pane { return &Pane{Steering: s} }

// ID names the pane.
func (v *Pane) ID() pane.ID { return pane.Scores }

// Tab is the name of the pane on the tab bar.
func (v *Pane) Tab() string { return string(pane.Scores) }

// Title is the text in the border of the pane.
func (v *Pane) Title(w int) (title, note string) {
	room := 21 // for the name, the cursor and the border
	if !v.Boxed {
		room = 10
	}
	return "F VALUES", v.scoresNote(w - room)
}

// Keys are those that work while the pane is in focus.
func (v *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (v *Pane) DependsOn() []topic.Topic {
	return []topic.Topic{topic.Snapshot, topic.Generations, topic.Staged}
}

// Body is the distribution of F: real, requested and synthetic values, one below the other, and a
// preview, all over the same bins.
func (v *Pane) Body(w, h int) []string {
	t := v.Theme
	all := v.distributions()
	if len(all) == 0 {
		return v.scoresSoFar(w, h)
	}
	// The synthetic values matter more than the requested ones, most of all beside a preview.
	rows, terms := h, v.termLines(w)
	preview, strip := v.answer(w, h, len(terms) > 0)
	switch {
	case strip: // shown whole too, beside what it is about
		rows = max(1, h-len(preview))
	case h >= roomyText: // the answer to what is staged is shown whole
		rows = max(2, h-len(preview)-len(terms))
	}
	for _, name := range []string{"asked", "real", "D_syn"} {
		if len(all) > max(1, rows) {
			all = slices.DeleteFunc(all, func(r histogramRow) bool { return r.name == name })
		}
	}
	n := len(all)
	spare := 2 // for the axis and the line below it
	spare += max(0, len(preview)-1) + len(terms)
	if v.askedText(w) != "" {
		spare++
	}
	d := histogramView{rows: max(1, min(4, (h-spare)/n)), columns: event.Bins}
	switch {
	case w < labelWidth+1+event.Bins+shortWidth:
		d.columns = event.Bins / 2
	case w >= labelWidth+1+2*event.Bins+quantileWidth && (d.rows > 1 || w >= labelWidth+1+2*event.Bins+2*quantileWidth):
		d.columns = 2 * event.Bins
	}
	d.room = w - labelWidth - 1 - d.columns
	var out []string
	for _, row := range all {
		out = append(out, v.histogram(row, d)...)
	}
	if n == 1 && h > d.rows && !strip {
		out = append(out, t.Dim.On(t.Clip(v.withoutSynthetic(), w)))
	}
	if len(out) < h {
		out = append(out, strings.Repeat(" ", labelWidth+1)+t.Dim.On(axisUnder(all, d, w)))
	}
	out = append(out, terms[:max(0, min(len(terms), h-len(out)-1))]...)
	text := v.PreviewText()
	if text != "" && v.Preview.Answer != nil && v.Previewed() == nil { // the reason takes two lines
		out = out[:max(0, min(len(out), h-2))]
	}
	if text != "" && len(out) < h {
		if len(preview) > h-len(out) && len(out) > n*d.rows { // it says more than the axis
			out = out[:n*d.rows]
		}
		if room := h - len(out); len(preview) > room {
			preview = append(preview[:room-1], t.Clip(strings.Join(preview[room-1:], " "), w))
		}
		for _, l := range preview {
			if !strip {
				l = t.Staged.On(l)
			}
			out = append(out, l)
		}
		return out
	}
	if text = v.askedText(w); text != "" && len(out) < h {
		out = append(out, text)
	}
	return append(out, v.mediansSoFar(w, h-len(out))...)
}

// answer is what is known of what is staged: a strip, if there is one and h lines have room for it and a
// histogram, or a text.
func (v *Pane) answer(w, h int, terms bool) (lines []string, strip bool) {
	switch lines = v.Strip(w); {
	case len(lines) > 0 && h > len(lines):
		return lines, true
	case len(lines) > 0 && h == len(lines):
		return lines[:h-1], true // what the rows are, the knobs say too
	}
	lines = nil
	text := v.PreviewText()
	if text != "" {
		lines = theme.Wrap(v.Spelled(text), w)
	}
	if terms && len(lines) > 1 { // the knobs say it too, and the terms stand here alone
		lines = []string{v.Theme.Clip(v.Spelled(text), w)}
	}
	return lines, false
}

// axisUnder is the ends of the axis, and the share that lies outside.
func axisUnder(all []histogramRow, d histogramView, w int) string {
	lo, hi := format.Number(all[0].data.Low), format.Number(all[0].data.High)
	axis := lo + strings.Repeat(" ", max(1, d.columns-theme.Width(lo)-theme.Width(hi))) + hi
	if all[0].data.Log {
		axis = theme.Longest([]string{axis, axis + "  log"}, w-labelWidth-1)
	}
	if share := beyond(all); share >= 0.005 {
		axis = theme.Longest([]string{axis, axis + "  " + format.Percent(share) + " beyond"}, w-labelWidth-1)
	}
	return axis
}

// roomyText is the height from which the text about what is staged is shown whole.
const roomyText = 6

// withoutSynthetic says why D_syn has no F.
func (v *Pane) withoutSynthetic() string {
	if v.Snap.Synthetic > 0 {
		return "F is of what was seen: synthetic rows have none"
	}
	return "no synthetic rows yet"
}

// beyond is the largest share of a distribution that lies outside the bins.
func beyond(all []histogramRow) float64 {
	highest := 0.0
	for _, row := range all {
		inside := 0
		for _, n := range row.data.Counts {
			inside += n
		}
		if row.data.Rows > 0 {
			highest = math.Max(highest, 1-float64(inside)/float64(row.data.Rows))
		}
	}
	return highest
}

// scoresSoFar takes the place of the histograms before the first generation, and where the last one has none.
func (v *Pane) scoresSoFar(w, h int) []string {
	t, all := v.Theme, v.spans()
	text := "histograms come with the first generation"
	if !v.Generates() {
		text = v.About.Config.Method + " has no generator: there is no F of generated transitions"
	}
	if len(v.History.Refits) > 0 { // without conditions, or by a version that did not write them
		if text = "no histograms came with the last generation"; len(all) > 0 {
			text = "10th to 90th percentile: " + text
		}
	}
	if why := v.PreviewText(); why != "" {
		text = why
	}
	var out []string
	if len(all) > 0 {
		if out = v.spanLines(all, w, h); len(out) == h && v.PreviewText() == "" {
			return out
		}
	}
	lines, needs := theme.Wrap(v.Spelled(text), w), 1
	if v.PreviewText() != "" && h >= roomyText {
		needs = len(lines)
	}
	out = out[:max(0, min(len(out), h-needs))]
	if room := max(1, h-len(out)); len(lines) > room {
		lines = append(lines[:room-1], t.Clip(strings.Join(lines[room-1:], " "), w))
	}
	for _, l := range lines {
		out = append(out, t.Dim.On(l))
	}
	return append(out, v.mediansSoFar(w, h-len(out))...)
}

// mediansSoFar is the history of the real transitions' median at evaluations, by F as it was then, if there
// is a line for it.
func (v *Pane) mediansSoFar(w, h int) []string {
	medians := v.History.Main(history.CurveF50).From(v.History.ScoredFrom)
	if h < 1 || len(medians) < 2 || !v.ShowsChosenF() {
		return nil
	}
	name := v.Theme.Dim.On("real medians at evaluations ")
	return []string{name + v.Theme.Real.On(v.Theme.Trend(medians, w-theme.Width(name)))}
}

// histogramView says how to draw histograms: their rows and columns, and the width of the room after them.
type histogramView struct{ rows, columns, room int }

// The widths of the name in front, of the quantiles after, such as " p90 0.810", and of one number,
// such as " 5.3e-4".
const labelWidth, quantileWidth, shortWidth = 5, 10, 7

// inColumns spreads the counts of the bins over columns, or adds them up.
func inColumns(counts []int, columns int) []float64 {
	values := make([]float64, columns)
	for i := range max(len(counts), columns) {
		values[i*columns/max(len(counts), columns)] += float64(counts[i*len(counts)/max(len(counts), columns)])
	}
	return values
}

// histogram is a label, the bars, and then median and 90th percentile.
func (v *Pane) histogram(row histogramRow, d histogramView) []string {
	t, name, q, colour := v.Theme, row.name, row.data, row.colour
	median := float64(q.Median)
	med, p90 := t.Dim.On(" med ")+format.Number(median), t.Dim.On(" p90 ")+format.Number(float64(q.Q90))
	out := t.Columns(inColumns(q.Counts[:], d.columns), d.rows, colour)
	for i := range out {
		label, text := "", ""
		switch {
		case i == len(out)-1 && d.rows > 1:
			label, text = name, p90
		case i == len(out)-2:
			text = med
		case i == len(out)-1:
			label = name
			text = theme.Longest([]string{med + p90, med, " " + format.Number(median)}, d.room)
		}
		out[i] = colour.On(t.Fit(label, labelWidth)) + " " + out[i] + text
	}
	return out
}

func (v *Pane) scoresNote(w int) string {
	t := v.Theme
	if p := v.Previewed(); p != nil {
		at := format.Count(v.Preview.Step)
		texts := []string{t.Dim.On("preview"), t.Dim.On("preview at ") + at, t.Dim.On("preview at step ") + at}
		if f := v.History.F; f != nil && f.Of == p.Relevance && f.At != v.Preview.Step { // the real F is of the refit
			texts = append(texts, t.Dim.On("real at step ")+format.Count(f.At)+t.Dim.On(", preview at ")+at)
		}
		return theme.Longest(texts, w)
	}
	if f := v.History.F; f != nil {
		of := t.Dim.On(f.Of)
		if !v.ShowsChosenF() {
			of = t.Warn.On(f.Of)
		}
		at := format.Count(f.At)
		return theme.Longest([]string{of, of + " " + at, of + t.Dim.On(" at step ") + at, of + t.Dim.On(", scored at step ") + at}, w)
	}
	last, ok := v.History.Main(history.CurveF50).Last()
	if !ok {
		return ""
	}
	return theme.Longest([]string{t.Dim.On("median"), t.Dim.On("scored at step ") + format.Count(last.Step)}, w)
}

// histogramRow is one distribution of F with its name and colour.
type histogramRow struct {
	name   string
	data   *event.Histogram
	colour theme.Ink
}

// distributions are those of F to show: real, requested by the prompts, synthetic, and what a
// preview would give, all over the same edges.
func (v *Pane) distributions() []histogramRow {
	t := v.Theme
	var realF, syn, asked *event.Histogram
	if f := v.History.F; f != nil {
		realF, syn, asked = f.Real, f.Achieved, f.Asked
	}
	p := v.Previewed()
	if p != nil {
		if p.Real != nil {
			realF = p.Real
		}
		if p.Synthetic != nil {
			syn = p.Synthetic
		}
		asked = nil // it has other edges
	}
	var out []histogramRow
	add := func(name string, h *event.Histogram, colour theme.Ink) {
		if h != nil {
			out = append(out, histogramRow{name, h, colour})
		}
	}
	add("real", realF, t.Real)
	add("asked", asked, t.Reference)
	add("D_syn", syn, t.Synthetic)
	if p != nil {
		add("prev.", p.Preview, t.Staged) // before the first fit there is none
	}
	return out
}

// askedText says whether rows follow their prompts, which two medians that agree do not mean: the
// rank correlation, row by row, shows it.
func (v *Pane) askedText(w int) string {
	t, g := v.Theme, v.History.Generated
	if g == nil || g.RankCorrelation == nil {
		return ""
	}
	correlate := t.Dim.On("correlate ") + fmt.Sprintf("%.2f", float64(*g.RankCorrelation))
	return theme.FirstFitting([]string{t.Dim.On("asked and achieved F ") + correlate, t.Dim.On("asked and achieved ") + correlate, correlate}, w)
}
