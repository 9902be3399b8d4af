package tui

import (
	"fmt"
	"math"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/chart"
)

// horizon is the right end of both charts: the newest measurement or change, so
// that charts move when there is something new and not with every step.
func (m *Model) horizon() float64 {
	h := &m.history
	x := 1.0
	if n := len(h.evaluations); n > 0 {
		x = math.Max(x, float64(h.evaluations[n-1].step))
	}
	if n := len(h.dormant); n > 0 {
		x = math.Max(x, float64(h.dormant[n-1].step))
	}
	for _, c := range h.changes {
		x = math.Max(x, float64(max(c.appliedStep, c.forceStep)))
	}
	return x
}

// frameChart is what both charts share.
func (m *Model) frameChart(series []chart.Series) *chart.Chart {
	markers, ticks := m.history.markers(m.markerText)
	c := &chart.Chart{
		Series: series, Markers: markers, Applied: ticks, XMax: m.horizon(),
		Glyphs: m.theme.chart, Paint: m.theme.paint,
	}
	return c
}

// markerText is the short text of a change beside its number.
func (m *Model) markerText(c *change) string {
	return fmt.Sprintf("%s %s%s%s", m.knobSymbol(c.knob), readable(c.from), m.theme.glyphs.arrow, readable(c.to))
}

func (m *Model) returnBody(w, h int) []string {
	if len(m.history.evaluations) == 0 {
		return m.waiting("no evaluation yet", w, h)
	}
	var series []chart.Series
	for member := range m.history.members() {
		series = append(series, chart.Series{Points: m.history.returns(member), Draw: chart.LineAndDots})
	}
	c := m.frameChart(series)
	c.Include = []float64{0}
	if r := m.options.Reference; r != nil {
		c.Reference = &chart.Reference{Low: r.Mean - r.Std, Mid: r.Mean, High: r.Mean + r.Std}
	}
	if i := m.inspect[paneReturn]; i > 0 && i <= len(m.history.evaluations) {
		x := float64(m.history.evaluations[i-1].step)
		c.Cursor = &x
	}
	return c.Lines(w, h)
}

// waiting is a chart without data: why it is empty, in its middle.
func (m *Model) waiting(text string, w, h int) []string {
	out := make([]string, h/2, h)
	pad := max(0, (w-width(text))/2)
	return append(out, fmt.Sprintf("%*s%s", pad, "", m.theme.dim.on(text)))
}

// returnNote is the legend, as long as the border allows.
func (m *Model) returnNote(w int) string {
	h, t := &m.history, m.theme
	if len(h.evaluations) == 0 {
		return ""
	}
	e := h.evaluations[len(h.evaluations)-1]
	at := "last"
	if i := m.inspect[paneReturn]; i > 0 && i <= len(h.evaluations) {
		e = h.evaluations[i-1]
		at = "step " + count(e.step)
	}
	sample := t.series[e.member%len(t.series)].on(t.chart.Sample(e.member, chart.LineAndDots))
	mean, std := spreadOf(e.mean, e.std)
	pm := " " + t.glyphs.plusMinus + " "
	value := t.bold.on(mean) + pm + std
	meaning := t.dim.on(fmt.Sprintf("mean of %d episodes %s std over the episodes", e.episodes, t.glyphs.plusMinus))
	notes := []string{sample + " " + meaning + "  " + at + " " + value, sample + " " + at + " " + value + t.dim.on(fmt.Sprintf(" (%d episodes)", e.episodes)), sample + " " + value}
	if r := m.options.Reference; r != nil {
		mean, std := spreadOf(r.Mean, r.Std)
		ref := "  " + t.reference.on(r.Source+" "+mean+pm+std)
		notes = append([]string{notes[0] + ref, notes[1] + ref, notes[2] + ref}, notes...)
	}
	return longest(notes, w)
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

func (m *Model) dormantTitle(w int) string {
	if len(m.history.dormant) == 0 {
		return "DORMANT RATIO"
	}
	tau := m.history.dormant[len(m.history.dormant)-1].tau
	if w < 64 {
		return fmt.Sprintf("DORMANT τ=%g", tau)
	}
	return fmt.Sprintf("DORMANT RATIO policy τ=%g", tau)
}

func (m *Model) dormantBody(w, h int) []string {
	records := m.history.dormant
	if len(records) == 0 {
		return m.waiting("measured at each evaluation", w, h)
	}
	var sokar, drm []chart.Point
	for _, d := range records {
		if d.member == 0 {
			sokar = append(sokar, chart.Point{X: float64(d.step), Y: d.sokar})
			drm = append(drm, chart.Point{X: float64(d.step), Y: d.drm})
		}
	}
	draw := chart.Line
	if len(sokar) <= w/6 { // few enough that dots do not hide the line
		draw = chart.LineAndDots
	}
	c := m.frameChart([]chart.Series{{Points: sokar, Draw: draw}, {Points: drm, Draw: draw}})
	c.Include = []float64{0, 0.05}
	if i := m.inspect[paneDormant]; i > 0 && i <= len(records) {
		x := float64(records[i-1].step)
		c.Cursor = &x
	}
	return c.Lines(w, h)
}

func (m *Model) dormantNote(w int) string {
	h, t := &m.history, m.theme
	if len(h.dormant) == 0 {
		return ""
	}
	d := h.dormant[len(h.dormant)-1]
	at := ""
	if i := m.inspect[paneDormant]; i > 0 && i <= len(h.dormant) {
		d = h.dormant[i-1]
		at = "step " + count(d.step) + "  "
	}
	a := t.series[0].on(t.chart.Sample(0, chart.Line)+" Sokar") + " " + t.bold.on(fmt.Sprintf("%.3f", d.sokar))
	b := t.series[1].on(t.chart.Sample(1, chart.Line)+" DrM") + " " + t.bold.on(fmt.Sprintf("%.3f", d.drm))
	return longest([]string{at + a + "   " + b, at + a + " " + b, a}, w)
}

func (m *Model) inspectLeft() tea.Cmd  { return m.inspectMove(-1) }
func (m *Model) inspectRight() tea.Cmd { return m.inspectMove(1) }

// inspectMove walks over the measurements of the chart in focus; before the first
// press it stands behind the last.
func (m *Model) inspectMove(by int) tea.Cmd {
	n := len(m.history.evaluations)
	if m.focus == paneDormant {
		n = len(m.history.dormant)
	}
	if n == 0 {
		return nil
	}
	at := m.inspect[m.focus]
	if at == 0 {
		at = n + 1
	}
	m.inspect[m.focus] = max(1, min(n, at+by))
	m.history.touch(m.focus)
	return nil
}
