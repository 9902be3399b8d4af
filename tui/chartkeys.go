package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

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

// nextChartStyle draws the lines of the charts the other way.
func (m *Model) nextChartStyle() tea.Cmd {
	if m.theme.set != Unicode {
		m.tell("the characters of this screen have no Braille (glyphs in the settings)")
		return nil
	}
	at := slices.Index(chartStyles, m.settings.Charts)
	m.settings.Charts = chartStyles[(at+1)%len(chartStyles)]
	m.styleCharts()
	m.tell("charts drawn with " + m.settings.Charts + "; :save-settings keeps that")
	m.history.touch(paneRuns)
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
