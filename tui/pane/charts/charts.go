// Package charts shows measured quantities over env steps, updates or time, with the
// changes of knobs as markers. All charts share one axis and one cursor.
package charts

import (
	"fmt"
	"math"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/chart"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Charts is the state that all charts share: the division of the horizontal axis, the position of
// the cursor, the style of the lines.
type Charts struct {
	*pane.Run
	Style    string          // how lines are drawn: one of ChartStyles
	Quantity map[pane.ID]int // the quantity that each chart shows
	Axis     axis
	Window   window
	Smooth   int             // the index in SmoothSteps
	log      map[string]bool // quantities with a logarithmic axis
	seeds    bool            // the seeds of a cohort are drawn as separate lines
	bandOff  bool            // the chart of returns has no band of noise
	shade    shade           // the ghost behind the returns
	alike    *history.Ghost  // other runs of the same settings; nil: not read
	Cursor   int             // the step being inspected
	CursorOn bool
}

// New makes charts with lines in a style, over the axis of the given name.
func New(r *pane.Run, style, axis string) *Charts {
	m := &Charts{Run: r, Style: style, Quantity: map[pane.ID]int{}, log: map[string]bool{}}
	for id, name := range firstShown {
		m.Quantity[id], _ = QuantityIndex(name)
	}
	for i := range axisCount {
		if AxisNames[i] == axis {
			m.Axis = i
		}
	}
	return m
}

// Pane is one of the charts.
type Pane struct {
	*Charts
	id pane.ID
}

// ID names the pane.
func (p *Pane) ID() pane.ID { return p.id }

// Tab is the quantity that the chart shows.
func (p *Pane) Tab() string { return p.shown(p.id).ID }

// Title is the quantity and, on the right, its newest values.
func (p *Pane) Title(w int) (title, note string) {
	title = p.chartTitle(p.id, w)
	room := w - theme.Width(title) - 3
	if p.Boxed {
		room -= 9
		if p.Focused() == p.id {
			room -= 2 // the mark of the focus
		}
	}
	return title, p.chartNote(p.id, room)
}

// Body draws the quantity.
func (p *Pane) Body(w, h int) []string { return p.ChartBody(p.id, w, h) }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic {
	return []topic.Topic{topic.Curves, topic.Changes, topic.Charts}
}

// Scroll zooms with the wheel of the mouse.
func (p *Pane) Scroll(by int) tea.Cmd {
	if by < 0 {
		return p.zoomIn()
	}
	return p.zoomOut()
}

// Verbs are the commands of all charts.
func (p *Pane) Verbs() []pane.Verb {
	if p.id != pane.Chart1 {
		return nil
	}
	return []pane.Verb{
		{Name: "show", About: "show a quantity in the chart in focus", Arguments: quantityNames, Run: p.CommandShow},
		{Name: "goto", About: "put the cursor on a marker, or on a step", Arguments: nil, Run: p.commandGoto},
		{Name: "band", About: "the band of the run's own noise behind its returns: on or off", Arguments: func() []string { return []string{"on", "off"} }, Run: p.commandBand},
		{Name: "ghost", About: "what stands faint behind the returns: other runs of these settings, the newest forks without the change, the paper's result", Arguments: func() []string { return shades[:] }, Run: p.commandGhost},
		{Name: "axis", About: "what the charts count", Arguments: func() []string { return AxisNames[:] }, Run: p.commandAxis},
	}
}

// ChartBody draws the quantity of a chart.
func (m *Charts) ChartBody(p pane.ID, w, h int) []string {
	q := m.shown(p)
	if m.empty(q) {
		return m.Waiting(m.reason(q), w, h)
	}
	lo, hi := m.Span()
	markers, ticks := m.markers()
	c := &chart.Chart{
		Series: m.Series(q), Markers: markers, Applied: ticks, XMin: lo, XMax: hi, Include: q.include, Log: m.log[q.ID],
		Glyphs: m.Theme.Chart, Paint: m.Theme.Paint, FormatX: m.formatX,
	}
	if m.Axis == axisWall {
		c.Ticks = wallTicks
	}
	if q.ID == "return" && m.Axis == AxisSteps {
		for _, r := range m.About.References {
			c.References = append(c.References, chart.Reference{X: r.At(), Low: r.Mean - r.Std, Mid: r.Mean, High: r.Mean + r.Std, Faint: r.Apart()})
		}
	}
	if q.ID == "return" {
		c.Noise, c.Falls = m.noise(w, h)
		if c.Ghost, c.Beyond = m.ghost(w, h), m.beyond(); len(c.Ghost.Low) > 0 { // two areas would hide each other
			c.Noise = chart.Band{}
		}
	}
	c.Fan = m.fan(q)
	if u := m.About.Untrained; u != nil && q.ID == "return" {
		c.Levels = []chart.Level{{Y: *u, Label: "untrained"}}
		c.Include = append(slices.Clone(c.Include), *u)
	}
	if m.CursorOn {
		x := m.placeStep(m.Cursor)
		c.Cursor = &x
	}
	return c.Lines(w, h)
}

// wallTicks are the positions of round times.
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

// markers are the lines at the steps where changes came into force and where notes were made, in
// order, and the ticks where changes were applied.
func (m *Charts) markers() (out []chart.Marker, ticks []float64) {
	for _, k := range m.milestones() {
		out = append(out, chart.Marker{X: m.placeStep(k.step), Label: k.label, Text: m.Spelled(k.text)})
	}
	for _, c := range m.History.Changes {
		if c.Number > 0 {
			ticks = append(ticks, m.placeStep(c.AppliedStep))
		}
	}
	return out, ticks
}

// milestone is a position on the charts with a label and a text about what happened there.
type milestone struct {
	step        int
	label, text string
	said        string // the same in a sentence that goes on with the step
}

func (m *Charts) milestones() []milestone {
	var out []milestone
	for _, c := range m.History.Changes {
		if c.State == history.InForce && c.Number > 0 {
			out = append(out, milestone{c.ForceStep, fmt.Sprint(c.Number), m.MarkerText(c), fmt.Sprintf("#%d %s in force", c.Number, m.MarkerText(c))})
		}
	}
	for i, n := range m.History.Notes {
		out = append(out, milestone{n.Step, noteLabel(i), n.Text, "note " + noteLabel(i) + ", " + n.Text + ","})
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

// StyleCharts sets the line style that the person wants, if the screen has the characters for it.
func (m *Charts) StyleCharts() {
	t := m.Theme
	t.Chart = theme.ChartGlyphs(t.Set)
	if m.Style == "braille" && t.Set == theme.Unicode {
		t.Chart = t.Chart.Braille()
	}
	if m.Projected {
		t.Chart = t.Chart.Dotted()
	}
}

// Pane is the chart of an ID.
func (m *Charts) Pane(id pane.ID) *Pane { return &Pane{m, id} }

// Showing finds a chart on the layout that shows a quantity; false: there is none.
func (m *Charts) Showing(quantity int) (pane.ID, bool) {
	for _, id := range chartIDs {
		if m.Quantity[id] == quantity && m.Visible(id) {
			return id, true
		}
	}
	return "", false
}

// Inspecting says whether there is a cursor over the charts.
func (m *Charts) Inspecting() bool { return m.CursorOn }

// ChartStyles are the ways to draw the lines of the charts.
var ChartStyles = []string{"lines", "braille"}
