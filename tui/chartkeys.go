package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Keys work while a chart is in focus; those that move the axis do so in all of them.
func (p *chartPane) Keys() []binding {
	m := p.charts
	return []binding{
		{name: "inspect-left", keys: []string{"left", "h"}, label: "left h", help: "the measurement before: a cursor at the same step of every chart, its numbers in the borders", action: m.inspectLeft},
		{name: "inspect-right", keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "inspect", help: "the measurement after", action: m.inspectRight},
		{name: "marker-next", keys: []string{"J"}, does: "next marker", help: "the cursor to the next marker: where a change came in force, or a note", action: m.markerNext},
		{name: "marker-previous", keys: []string{"K"}, help: "the cursor to the marker before", action: m.markerPrevious},
		{name: "quantity-next", keys: []string{"]"}, hint: "[ ]", does: "quantity", help: "show the next quantity in this chart: return, dormant ratio, losses, Q, α, F, speed, …", action: m.quantityNext},
		{name: "quantity-previous", keys: []string{"["}, help: "show the quantity before", action: m.quantityPrevious},
		{name: "closer", keys: []string{"=", "up", "k"}, label: "= up k", hint: "= -", does: "zoom", help: "half the horizontal range of all charts, around the cursor or at the newest measurement", action: m.zoomIn},
		{name: "farther", keys: []string{"-", "down", "j"}, label: "- down j", help: "twice the range; beyond what was measured, the whole run to come", action: m.zoomOut},
		{name: "pan-left", keys: []string{",", "shift+left"}, label: ", shift+left", hint: ", .", does: "pan", help: "earlier", action: m.panLeft},
		{name: "pan-right", keys: []string{".", "shift+right"}, label: ". shift+right", help: "later", action: m.panRight},
		{name: "axis", keys: []string{"x"}, does: "x axis", help: "what the charts count: env steps, critic updates or wall time", action: m.nextAxis},
		{name: "smooth", keys: []string{"s"}, help: "smoothing of the lines: none, 0.6, 0.9; what was measured stands as dots beside them, and the title says it", action: m.nextSmoothing},
		{name: "braille", keys: []string{"b"}, help: "draw the lines of all charts with Braille dots, two by four a character, or with line characters again", action: m.nextChartStyle},
		{name: "log", keys: []string{"y"}, help: "logarithmic vertical axis for this quantity, or linear again", action: m.toggleLog},
	}
}

func (m *charts) inspectLeft() tea.Cmd  { return m.inspectMove(-1) }
func (m *charts) inspectRight() tea.Cmd { return m.inspectMove(1) }

// inspectMove walks over the measurements of the chart in focus; the cursor stands
// at the same step of every chart. Before the first press it is behind the last.
func (m *charts) inspectMove(by int) tea.Cmd {
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
func (m *charts) markerNext() tea.Cmd     { return m.markerMove(1) }
func (m *charts) markerPrevious() tea.Cmd { return m.markerMove(-1) }

func (m *charts) markerMove(by int) tea.Cmd {
	var steps []int
	for _, k := range m.milestones() {
		steps = append(steps, k.step)
	}
	if len(steps) == 0 {
		m.refuse("no marker yet: a knob's change draws one, and n notes one")
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
func (m *charts) moveCursor(steps []int, by int) {
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
func (m *charts) chartInFocus() paneID {
	if isChart(m.focused()) {
		return m.focused()
	}
	return paneChart1
}

func (m *charts) quantityNext() tea.Cmd     { return m.switchQuantity(1) }
func (m *charts) quantityPrevious() tea.Cmd { return m.switchQuantity(len(quantities) - 1) }

func (m *charts) switchQuantity(by int) tea.Cmd {
	id := m.chartInFocus()
	m.quantity[id] = (m.quantity[id] + by) % len(quantities)
	m.drawChartsAnew()
	return nil
}

func (m *charts) nextAxis() tea.Cmd {
	m.axis = (m.axis + 1) % axisCount
	m.window = window{}
	m.tell("the charts count " + map[axis]string{axisSteps: "env steps", axisUpdates: "critic updates", axisWall: "wall time, pauses included"}[m.axis])
	m.drawChartsAnew()
	return nil
}

func (m *charts) nextSmoothing() tea.Cmd {
	m.smooth = (m.smooth + 1) % len(smoothSteps)
	m.tell(fmt.Sprintf("smoothing %g: weight of the past per measurement; the dots are not smoothed", smoothSteps[m.smooth]))
	m.drawChartsAnew()
	return nil
}

// nextChartStyle draws the lines of the charts the other way.
func (m *charts) nextChartStyle() tea.Cmd {
	if m.theme.set != Unicode {
		m.tell("the characters of this screen have no Braille (glyphs in the settings)")
		return nil
	}
	m.style = chartStyles[(slices.Index(chartStyles, m.style)+1)%len(chartStyles)]
	m.styleCharts()
	m.tell("charts drawn with " + m.style + "; :save-settings keeps that")
	m.drawChartsAnew()
	return nil
}

func (m *charts) toggleLog() tea.Cmd {
	q := m.shown(m.chartInFocus())
	m.log[q.id] = !m.log[q.id]
	m.drawChartsAnew()
	return nil
}

func (m *charts) zoomIn() tea.Cmd   { m.rescale(0.5); return nil }
func (m *charts) zoomOut() tea.Cmd  { m.rescale(2); return nil }
func (m *charts) panLeft() tea.Cmd  { m.pan(-0.25); return nil }
func (m *charts) panRight() tea.Cmd { m.pan(0.25); return nil }

// follow shows everything again, up to the newest measurement.
func (m *charts) follow() {
	m.window, m.cursorOn = window{}, false
	m.drawChartsAnew()
}

// leaveCursor takes the cursor away; it says whether there was one.
func (m *charts) leaveCursor() bool {
	if !m.cursorOn {
		return false
	}
	m.cursorOn = false
	m.drawChartsAnew()
	return true
}

// unzoom shows the whole axis again; it says whether a part was shown.
func (m *charts) unzoom() bool {
	if !m.window.zoomed {
		return false
	}
	m.follow()
	return true
}

func (m *charts) commandShow(text string) error {
	i, ok := quantityIndex(text)
	if !ok {
		return fmt.Errorf("show: want one of %s", strings.Join(quantityNames(), ", "))
	}
	p := m.chartInFocus()
	m.quantity[p] = i
	if !m.visible(p) {
		m.goTo(p)
	}
	m.drawChartsAnew()
	return nil
}

// commandGoto puts the cursor on a marker by its label, or on a step.
func (m *charts) commandGoto(text string) error {
	label := strings.TrimPrefix(text, "#")
	for _, k := range m.milestones() {
		if k.label == label {
			m.cursor, m.cursorOn = k.step, true
			m.tell("#" + k.label + " " + k.text + " in force at step " + count(k.step))
			m.drawChartsAnew()
			return nil
		}
	}
	step, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(text))
	if err != nil || step < 0 {
		return fmt.Errorf("goto: there is no marker %q, and it is no step", text)
	}
	m.cursor, m.cursorOn = step, true
	m.drawChartsAnew()
	return nil
}

func (m *charts) commandAxis(text string) error {
	for a := range axisCount {
		if a.String() == text {
			m.axis = (a + axisCount - 1) % axisCount
			m.nextAxis()
			return nil
		}
	}
	return fmt.Errorf("axis: want one of %s", strings.Join(axisNames[:], ", "))
}

// toggleInspect puts the cursor on the newest measurement, or takes it away.
func (m *charts) toggleInspect() tea.Cmd {
	if m.leaveCursor() {
		return nil
	}
	return m.inspectMove(-1)
}

// Click puts the cursor on the measurement nearest to a column of the pane.
func (m *chartPane) Click(x, w int) {
	c := m.history.curve(m.shown(m.id).lines[0].curve, 0)
	if c == nil || w < 12 {
		return
	}
	lo, hi := m.span()
	at := lo + (hi-lo)*float64(x-7)/float64(w-9) // about: labels left, border right
	best := c.samples[0]
	distance := func(s sample) float64 {
		d := m.place(&m.history)(s.step, s.wall) - at
		return max(d, -d)
	}
	for _, s := range c.samples {
		if distance(s) < distance(best) {
			best = s
		}
	}
	m.cursor, m.cursorOn = best.step, true
	m.drawChartsAnew()
}
