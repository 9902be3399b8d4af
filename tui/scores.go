package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/event"
)

// scoresPane is the distribution of F.
type scoresPane struct {
	*steering
}

func newScores(s *steering) *scoresPane { return &scoresPane{steering: s} }

// ID names the pane.
func (m *scoresPane) ID() paneID { return paneScores }

// Tab is its name on the tab bar.
func (m *scoresPane) Tab() string { return string(paneScores) }

// Title is what its border says.
func (m *scoresPane) Title(w int) (title, note string) { return "F VALUES", m.scoresNote(w - 16) }

// Keys work while it is in focus.
func (m *scoresPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *scoresPane) DependsOn() []topic {
	return []topic{topicSnapshot, topicGenerations, topicStaged}
}

// Body is the distribution of F: real, asked for and synthetic ones above each
// other, and a preview, over the same bins.
func (m *scoresPane) Body(w, h int) []string {
	t := m.theme
	all := m.distributions()
	if len(all) == 0 {
		return m.scoresSoFar(w, h)
	}
	// What came matters more than what was asked for, and beside a preview most.
	for _, letter := range []string{"a", "r", "s"} {
		if len(all) > max(1, h) {
			all = slices.DeleteFunc(all, func(r histogramRow) bool { return r.letter == letter })
		}
	}
	n := len(all)
	spare := 2 // for the axis and a line below it
	if m.askedText(w) != "" {
		spare++
	}
	d := histogramView{rows: max(1, min(4, (h-spare)/n)), columns: 1, label: 5}
	if w < d.label+event.Bins+5 {
		d.label = 1
	}
	if w >= d.label+1+2*event.Bins+quantileWidth && (d.rows > 1 || w >= d.label+1+2*event.Bins+2*quantileWidth) {
		d.columns = 2
	}
	d.room = w - d.label - 1 - d.columns*event.Bins
	var out []string
	for _, row := range all {
		out = append(out, m.histogram(row, d)...)
	}
	if n == 1 && h > d.rows {
		out = append(out, t.dim.on("no synthetic rows yet"))
	}
	if len(out) < h {
		lo, hi := number(all[0].data.Low), number(all[0].data.High)
		axis := lo + strings.Repeat(" ", max(1, d.columns*event.Bins-width(lo)-width(hi))) + hi
		if all[0].data.Log {
			axis = longest([]string{axis, axis + "  log"}, w-d.label-1)
		}
		if share := beyond(all); share >= 0.005 {
			axis = longest([]string{axis, axis + "  " + percent(share) + " beyond"}, w-d.label-1)
		}
		out = append(out, strings.Repeat(" ", d.label+1)+t.dim.on(axis))
	}
	text := m.previewText()
	if text != "" && m.preview.answer != nil && m.previewed() == nil { // two lines say why
		out = out[:max(0, min(len(out), h-2))]
	}
	if text != "" && len(out) < h {
		lines := wrap(m.spelled(text), w)
		if room := h - len(out); len(lines) > room {
			lines = append(lines[:room-1], t.clip(strings.Join(lines[room-1:], " "), w))
		}
		for _, l := range lines {
			out = append(out, t.staged.on(l))
		}
		return out
	}
	if text = m.askedText(w); text != "" && len(out) < h {
		out = append(out, text)
	}
	if medians := m.history.curve(curveF50, 0).from(m.history.scoredFrom); len(out) < h && len(medians) > 1 {
		name := t.dim.on("medians so far of real ")
		out = append(out, name+t.real.on(t.trend(medians, w-width(name))))
	}
	return out
}

// beyond is the largest share of a distribution that lies outside the bins.
func beyond(all []histogramRow) float64 {
	most := 0.0
	for _, row := range all {
		inside := 0
		for _, n := range row.data.Counts {
			inside += n
		}
		if row.data.Rows > 0 {
			most = math.Max(most, 1-float64(inside)/float64(row.data.Rows))
		}
	}
	return most
}

// scoresSoFar stands for the histograms before the first generation.
func (m *scoresPane) scoresSoFar(w, h int) []string {
	t := m.theme
	text := "histograms come with the first generation"
	if !m.generates() {
		text = m.about.Config.Method + " has no generator: there is no F of generated transitions"
	}
	if m.about.Replay {
		text = "a journal keeps the quantiles of F, not its histograms"
	}
	if why := m.previewText(); why != "" {
		text = why
	}
	var out []string
	if median, ok := m.history.curve(curveF50, 0).last(); ok {
		high, _ := m.history.curve(curveF90, 0).last()
		out = append(out, t.real.on("real")+t.dim.on("  med ")+number(median.y)+t.dim.on(" p90 ")+number(high.y))
	}
	lines := wrap(m.spelled(text), w)
	if room := max(1, h-len(out)); len(lines) > room {
		lines = append(lines[:room-1], t.clip(strings.Join(lines[room-1:], " "), w))
	}
	for _, l := range lines {
		out = append(out, t.dim.on(l))
	}
	return out
}

// histogramView is how histograms are drawn: how high, columns of a bin, width of
// the label before and of the room behind.
type histogramView struct{ rows, columns, label, room int }

// quantileWidth is the room for the quantiles, as " p90 0.810".
const quantileWidth = 10

// histogram is a label, the bars, and median and 90th percentile behind them.
func (m *scoresPane) histogram(row histogramRow, d histogramView) []string {
	t, name, q, colour := m.theme, row.name, row.data, row.colour
	var values []float64
	for _, n := range q.Counts {
		for range d.columns {
			values = append(values, float64(n))
		}
	}
	if d.label == 1 {
		name = row.letter
	}
	med, p90 := t.dim.on(" med ")+number(q.Median), t.dim.on(" p90 ")+number(q.Q90)
	out := t.columns(values, d.rows, colour)
	for i := range out {
		label, text := "", ""
		switch {
		case i == len(out)-1 && d.rows > 1:
			label, text = name, p90
		case i == len(out)-2:
			text = med
		case i == len(out)-1:
			label = name
			text = longest([]string{med + p90, med, " " + number(q.Median), " " + strconv.FormatFloat(q.Median, 'g', 2, 64)}, d.room)
			if text == "" {
				text = longest([]string{" " + short(q.Median)}, d.room)
			}
		}
		out[i] = colour.on(t.fit(label, d.label)) + " " + out[i] + text
	}
	return out
}

// short is a number in four columns, as 3e-3.
func short(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'e', 0, 64), "e-0", "e-", 1)
}

func (m *scoresPane) scoresNote(w int) string {
	t := m.theme
	if p := m.previewed(); p != nil {
		return longest([]string{t.dim.on("median"), t.dim.on("preview at step ") + count(m.preview.step)}, w)
	}
	last, ok := m.history.curve(curveF50, 0).last()
	if !ok {
		return ""
	}
	return longest([]string{t.dim.on("median"), t.dim.on("scored at step ") + count(last.step)}, w)
}

// histogramRow is one distribution of F with its name and colour.
type histogramRow struct {
	name, letter string
	data         *event.Histogram
	colour       ink
}

// distributions are those of F to show: real, what the prompts asked for and what
// came of them, and what a preview would make, all over the same edges.
func (m *scoresPane) distributions() []histogramRow {
	t, s := m.theme, m.snap
	realF, syn, asked := s.FReal, s.FSyn, s.FAsked
	p := m.previewed()
	if p != nil {
		if p.Real != nil {
			realF = p.Real
		}
		if p.Synthetic != nil {
			syn = p.Synthetic
		}
		asked = nil // over other edges
	}
	var out []histogramRow
	add := func(name, letter string, h *event.Histogram, colour ink) {
		if h != nil {
			out = append(out, histogramRow{name, letter, h, colour})
		}
	}
	add("real", "r", realF, t.real)
	add("asked", "a", asked, t.reference)
	add("D_syn", "s", syn, t.synthetic)
	if p != nil {
		add("prev.", "p", p.Preview, t.staged) // before the first fit there is none
	}
	return out
}

// askedText compares the F that prompts asked for with that of what came out.
func (m *scoresPane) askedText(w int) string {
	t, g := m.theme, m.history.generated
	if g == nil || g.Asked == nil || g.Achieved == nil {
		return ""
	}
	pair := func(q *event.Quantiles) string {
		return number(float64(q.Median)) + t.dim.on("..") + number(float64(q.Q90))
	}
	text := t.dim.on("asked ") + pair(g.Asked) + t.dim.on("  achieved ") + t.synthetic.on(pair(g.Achieved))
	texts := []string{text}
	if g.Obeyed != nil {
		texts = append(texts, text+t.dim.on("  rank correlation ")+fmt.Sprintf("%.2f", float64(*g.Obeyed)))
	}
	return longest(texts, w)
}
