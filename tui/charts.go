package tui

import (
	"fmt"
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

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

// chartTitle names the quantity and, where there is room, how it is drawn.
func (m *Model) chartTitle(p paneID, w int) string {
	q := m.shown(p)
	title := m.spelled(q.title)
	if q.id == "dormant" && len(m.history.dormant) > 0 && w >= 64 {
		title += fmt.Sprintf(" policy τ=%g", m.history.dormant[len(m.history.dormant)-1].tau)
	} else if q.about != "" && w >= 64 {
		title += " " + q.about
	}
	var how []string
	if m.axis != axisSteps {
		how = append(how, "x: "+m.axis.String())
	}
	if m.log[q.id] {
		how = append(how, "log")
	}
	if m.window.zoomed && w >= 60 {
		how = append(how, "zoomed")
	}
	if len(how) > 0 && w >= 46 {
		title += " (" + strings.Join(how, ", ") + ")"
	}
	return title
}

// chartNote is the legend, as long as the border allows.
func (m *Model) chartNote(p paneID, w int) string {
	q := m.shown(p)
	if m.empty(q) {
		return ""
	}
	if q.id == "return" {
		return m.returnNote(q, w)
	}
	t := m.theme
	at, where := m.readAt()
	var long, short []string
	for i, l := range q.lines {
		s, ok := m.valueAt(&m.history, l.curve, at)
		if !ok {
			continue
		}
		mark := t.series[i%len(t.series)].on(t.chart.Sample(i, chart.Line) + " " + m.spelled(l.label))
		value := number(s.y)
		if q.id == "dormant" {
			value = fmt.Sprintf("%.3f", s.y)
		}
		long = append(long, mark+" "+t.bold.on(value))
		if i == 0 {
			short = append(short, mark+" "+t.bold.on(value))
		}
	}
	long = append(long, m.comparedNote(q, at)...)
	return longest([]string{where + strings.Join(long, "   "), where + strings.Join(long, " "), strings.Join(long, " "), strings.Join(short, " ")}, w)
}

// comparedNote is the value of each compared run.
func (m *Model) comparedNote(q quantity, at int) []string {
	t := m.theme
	var out []string
	for i, other := range m.compared {
		if s, ok := m.valueAt(&other.history, q.lines[0].curve, at); ok {
			look := m.lookOf(q, i)
			out = append(out, t.series[look%len(t.series)].on(t.chart.Sample(look, chart.Line)+" "+other.name)+" "+number(s.y))
		}
	}
	return out
}

// readAt is the step whose values the legends show, and what they say of it.
func (m *Model) readAt() (step int, where string) {
	if !m.cursorOn {
		return math.MaxInt, ""
	}
	return m.cursor, m.theme.dim.on("step ") + count(m.cursor) + "  "
}

func (m *Model) valueAt(h *history, name curveName, step int) (sample, bool) {
	return h.curve(name, 0).at(step)
}

// returnNote says what the dots and the ± are, in words where there is room.
func (m *Model) returnNote(q quantity, w int) string {
	h, t := &m.history, m.theme
	at, where := m.readAt()
	e, found := evaluation{}, false
	for _, v := range h.evaluations {
		if v.step <= at && v.member == 0 {
			e, found = v, true
		}
	}
	if !found {
		return where
	}
	dot := t.series[0].on(t.chart.Sample(0, chart.Dots))
	mean, std := spreadOf(e.mean, e.std)
	pm := " " + t.glyphs.plusMinus + " "
	value := t.bold.on(mean) + pm + std
	smooth := ""
	if m.smooth > 0 {
		smooth = "  " + t.series[0].on(t.chart.Sample(0, chart.Line)) + t.dim.on(fmt.Sprintf(" smoothed %g", smoothSteps[m.smooth]))
	}
	words := t.dim.on(fmt.Sprintf(" mean of %d episodes %s std over them", e.episodes, t.glyphs.plusMinus))
	others := ""
	for _, o := range m.comparedNote(q, at) {
		others += "  " + o
	}
	var notes []string
	for _, tail := range []string{others + m.referenceNote(2), others + m.referenceNote(1), others} {
		for _, head := range []string{dot + words + smooth + "  ", dot + words + "  ", dot + t.dim.on(fmt.Sprintf(" %d episodes ", e.episodes)), dot + " "} {
			notes = append(notes, where+head+value+tail)
		}
	}
	notes = append(notes, dot+" "+value, value)
	return firstFitting(notes, w)
}

// referenceNote is up to so many published values, the one that compares best first,
// with their steps.
func (m *Model) referenceNote(most int) string {
	t := m.theme
	out := ""
	for i, r := range m.options.References {
		if i == most {
			break
		}
		mean, std := spreadOf(r.Mean, r.Std)
		text := fmt.Sprintf("%s %s %s %s at %s", r.Source, mean, t.glyphs.plusMinus, std, chart.FormatCount(float64(r.Step)))
		if r.OtherScale {
			out += "  " + t.dim.on(text+", other scale")
		} else {
			out += "  " + t.reference.on(text)
		}
	}
	return out
}

// firstFitting is the first of the notes that fits into w columns.
func firstFitting(notes []string, w int) string {
	for _, n := range notes {
		if width(n) <= w {
			return n
		}
	}
	return ""
}

func (m *Model) inspectLeft() tea.Cmd  { return m.inspectMove(-1) }
func (m *Model) inspectRight() tea.Cmd { return m.inspectMove(1) }

// inspectMove walks over the measurements of the chart in focus; the cursor stands
// at the same step of every chart. Before the first press it is behind the last.
func (m *Model) inspectMove(by int) tea.Cmd {
	var steps []int
	if c := m.history.curve(m.shown(m.chartInFocus()).lines[0].curve, 0); c != nil {
		for _, s := range c.samples {
			steps = append(steps, s.step)
		}
	}
	m.moveCursor(steps, by)
	return nil
}

// markerNext and markerPrevious jump between the markers, whose whole text stands
// in the line below.
func (m *Model) markerNext() tea.Cmd     { return m.markerMove(1) }
func (m *Model) markerPrevious() tea.Cmd { return m.markerMove(-1) }

func (m *Model) markerMove(by int) tea.Cmd {
	var steps []int
	for _, k := range m.milestones() {
		steps = append(steps, k.step)
	}
	if len(steps) == 0 {
		m.say(refused, "no marker yet: a knob's change draws one, and n notes one")
		return nil
	}
	m.moveCursor(steps, by)
	var at []string
	for _, k := range m.milestones() {
		if k.step == m.cursor {
			at = append(at, "#"+k.label+" "+k.text)
		}
	}
	m.tell(strings.Join(at, ", ") + " in force at step " + count(m.cursor))
	return nil
}

// moveCursor goes to the next of ascending steps in a direction.
func (m *Model) moveCursor(steps []int, by int) {
	if len(steps) == 0 {
		return
	}
	at := math.MaxInt
	if m.cursorOn {
		at = m.cursor
	}
	next := -1
	if by < 0 {
		for i := len(steps) - 1; i >= 0 && next < 0; i-- {
			if steps[i] < at {
				next = steps[i]
			}
		}
	} else {
		for i := 0; i < len(steps) && next < 0; i++ {
			if steps[i] > at {
				next = steps[i]
			}
		}
	}
	switch {
	case next >= 0:
		m.cursor, m.cursorOn = next, true
	case !m.cursorOn:
		m.cursor, m.cursorOn = steps[len(steps)-1], true
	}
	m.drawChartsAnew()
}

// chartInFocus is the chart that keys about charts mean.
func (m *Model) chartInFocus() paneID {
	if _, ok := cellOf(m.focus); ok {
		return m.focus
	}
	return paneChart1
}

func (m *Model) quantityNext() tea.Cmd     { return m.switchQuantity(1) }
func (m *Model) quantityPrevious() tea.Cmd { return m.switchQuantity(len(quantities) - 1) }

func (m *Model) switchQuantity(by int) tea.Cmd {
	cell, _ := cellOf(m.chartInFocus())
	m.cells[cell] = (m.cells[cell] + by) % len(quantities)
	m.drawChartsAnew()
	return nil
}

func (m *Model) nextAxis() tea.Cmd {
	m.axis = (m.axis + 1) % axisCount
	m.window = window{}
	m.tell("the charts count " + map[axis]string{axisSteps: "env steps", axisUpdates: "critic updates", axisWall: "wall time, pauses included"}[m.axis])
	m.drawChartsAnew()
	return nil
}

func (m *Model) nextSmoothing() tea.Cmd {
	m.smooth = (m.smooth + 1) % len(smoothSteps)
	m.tell(fmt.Sprintf("smoothing %g: weight of the past per measurement; the dots are not smoothed", smoothSteps[m.smooth]))
	m.drawChartsAnew()
	return nil
}

func (m *Model) toggleLog() tea.Cmd {
	q := m.shown(m.chartInFocus())
	m.log[q.id] = !m.log[q.id]
	m.drawChartsAnew()
	return nil
}

func (m *Model) zoomIn() tea.Cmd   { m.rescale(0.5); return nil }
func (m *Model) zoomOut() tea.Cmd  { m.rescale(2); return nil }
func (m *Model) panLeft() tea.Cmd  { m.pan(-0.25); return nil }
func (m *Model) panRight() tea.Cmd { m.pan(0.25); return nil }

// follow shows everything again, up to the newest measurement.
func (m *Model) follow() tea.Cmd {
	if m.focus == paneEvents {
		return m.eventsFollow()
	}
	m.window, m.cursorOn = window{}, false
	m.drawChartsAnew()
	return nil
}
