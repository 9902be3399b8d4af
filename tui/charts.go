package tui

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/tui/chart"
)

// chartBody draws the quantity of a chart pane.
func (m *Model) chartBody(p paneID, w, h int) []string {
	q := m.shown(p)
	if m.empty(q) {
		return m.waiting(q.empty, w, h)
	}
	lo, hi := m.span()
	markers, ticks := m.markers()
	c := &chart.Chart{
		Series: m.series(q), Markers: markers, Applied: ticks, XMin: lo, XMax: hi, Include: q.include, Log: m.log[q.id],
		Glyphs: m.theme.chart, Paint: m.theme.paint, FormatX: m.formatX,
	}
	if m.axis == axisWall {
		c.Ticks = wallTicks
	}
	if q.id == "return" && m.axis == axisSteps {
		for _, r := range m.options.References {
			c.References = append(c.References, chart.Reference{X: float64(r.Step), Low: r.Mean - r.Std, Mid: r.Mean, High: r.Mean + r.Std, Faint: r.OtherScale})
		}
	}
	if m.cursorOn {
		x := m.placeStep(m.cursor)
		c.Cursor = &x
	}
	return c.Lines(w, h)
}

// wallTicks are round times.
func wallTicks(lo, hi float64, most int) []float64 {
	steps := []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if (hi-lo)/s <= float64(most) {
			step = s
			break
		}
	}
	for (hi-lo)/step > float64(most) {
		step *= 2
	}
	var out []float64
	for v := math.Ceil(lo/step) * step; v <= hi; v += step {
		out = append(out, v)
	}
	return out
}

// markers are the lines at the steps where changes came into force and where notes
// were made, in their order, and the ticks where changes were applied.
func (m *Model) markers() (out []chart.Marker, ticks []float64) {
	for _, k := range m.milestones() {
		out = append(out, chart.Marker{X: m.placeStep(k.step), Label: k.label, Text: m.spelled(k.text)})
	}
	for _, c := range m.history.changes {
		if c.number > 0 {
			ticks = append(ticks, m.placeStep(c.appliedStep))
		}
	}
	return out, ticks
}

// milestone is a place on the charts with a label and what happened there.
type milestone struct {
	step        int
	label, text string
}

func (m *Model) milestones() []milestone {
	var out []milestone
	for _, c := range m.history.changes {
		if c.state == inForce && c.number > 0 {
			out = append(out, milestone{c.forceStep, fmt.Sprint(c.number), m.markerText(c)})
		}
	}
	for i, n := range m.history.notes {
		out = append(out, milestone{n.step, noteLabel(i), n.text})
	}
	sortBy(out, func(k milestone) int { return k.step })
	return out
}

// noteLabel numbers notes a, b, …, z, a2, ….
func noteLabel(i int) string {
	label := string(rune('a' + i%26))
	if i >= 26 {
		label += fmt.Sprint(i/26 + 1)
	}
	return label
}

// markerText is the short text of a change beside its number.
func (m *Model) markerText(c *change) string {
	return fmt.Sprintf("%s %s%s%s", m.knobSymbol(c.knob), readable(c.from), m.theme.glyphs.arrow, readable(c.to))
}

// waiting is a pane without data: why it is empty, dim, in its middle.
func (m *Model) waiting(text string, w, h int) []string {
	lines := wrap(m.spelled(text), max(1, w))
	out := make([]string, max(0, h-len(lines))/2, h+1)
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", max(0, (w-width(l))/2))+m.theme.dim.on(l))
	}
	return out
}

// longest is the widest of the notes that fits into w columns.
func longest(notes []string, w int) string {
	best := ""
	for _, n := range notes {
		if k := width(n); k <= w && k > width(best) {
			best = n
		}
	}
	return best
}
