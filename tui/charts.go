package tui

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/tui/chart"

	tea "github.com/charmbracelet/bubbletea"
)

// charts is what all charts share: how their horizontal axis is divided, where the
// cursor stands, how lines are drawn.
type charts struct {
	*runView
	style    string         // what draws the lines: one of chartStyles
	quantity map[paneID]int // what each chart shows
	axis     axis
	window   window
	smooth   int             // the place among smoothSteps
	log      map[string]bool // quantities with a logarithmic axis
	cursor   int             // the inspected step
	cursorOn bool
}

// newCharts are charts with lines of a style, over an axis by its name.
func newCharts(r *runView, style, axis string) *charts {
	m := &charts{runView: r, style: style, quantity: map[paneID]int{}, log: map[string]bool{}}
	for id, name := range firstShown {
		m.quantity[id], _ = quantityIndex(name)
	}
	for i := range axisCount {
		if axisNames[i] == axis {
			m.axis = i
		}
	}
	return m
}

// chartPane is one of the charts.
type chartPane struct {
	*charts
	id paneID
}

// ID names the pane.
func (p *chartPane) ID() paneID { return p.id }

// Tab is the quantity that it shows.
func (p *chartPane) Tab() string { return p.shown(p.id).id }

// Title is the quantity, and on the right its newest values.
func (p *chartPane) Title(w int) (title, note string) {
	title = p.chartTitle(p.id, w)
	room := w - width(title) - 3
	if p.boxed {
		room -= 9
	}
	return title, p.chartNote(p.id, room)
}

// Body draws the quantity.
func (p *chartPane) Body(w, h int) []string { return p.chartBody(p.id, w, h) }

// DependsOn are the topics that it shows.
func (p *chartPane) DependsOn() []topic { return []topic{topicCurves, topicChanges, topicCharts} }

// Scroll is the wheel of the mouse: it zooms.
func (p *chartPane) Scroll(by int) tea.Cmd {
	if by < 0 {
		return p.zoomIn()
	}
	return p.zoomOut()
}

// Verbs are the commands of all charts.
func (p *chartPane) Verbs() []verb {
	if p.id != paneChart1 {
		return nil
	}
	return []verb{
		{"show", "show a quantity in the chart in focus", quantityNames, p.commandShow},
		{"goto", "put the cursor on a marker, or on a step", nil, p.commandGoto},
		{"axis", "what the charts count", func() []string { return axisNames[:] }, p.commandAxis},
	}
}

// chartBody draws the quantity of a chart.
func (m *charts) chartBody(p paneID, w, h int) []string {
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
		for _, r := range m.about.References {
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
func (m *charts) markers() (out []chart.Marker, ticks []float64) {
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

func (m *charts) milestones() []milestone {
	var out []milestone
	for _, c := range m.history.changes {
		if c.state == inForce && c.number > 0 {
			out = append(out, milestone{c.forceStep, fmt.Sprint(c.number), m.markerText(c)})
		}
	}
	for i, n := range m.history.notes {
		out = append(out, milestone{n.step, noteLabel(i), n.text})
	}
	slices.SortStableFunc(out, func(a, b milestone) int { return a.step - b.step })
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

// styleCharts takes the lines of the charts as the person wants them, where the
// characters of the screen have them.
func (m *charts) styleCharts() {
	t := m.theme
	t.chart = chartGlyphs(t.set)
	if m.style == "braille" && t.set == Unicode {
		t.chart = t.chart.Braille()
	}
}

// pane is the chart of an ID.
func (m *charts) pane(id paneID) *chartPane { return &chartPane{m, id} }

// showing is a chart that the layout shows and that shows a quantity; false: none does.
func (m *charts) showing(quantity int) (paneID, bool) {
	for _, id := range chartIDs {
		if m.quantity[id] == quantity && m.visible(id) {
			return id, true
		}
	}
	return "", false
}

// inspecting says whether there is a cursor over the charts.
func (m *charts) inspecting() bool { return m.cursorOn }

// chartStyles are what draws the lines of the charts.
var chartStyles = []string{"lines", "braille"}
