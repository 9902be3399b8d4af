package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Keys are those that work while a chart is in focus; keys that move the axis move it in all
// charts.
func (p *Pane) Keys() []pane.Binding {
	m := p.Charts
	return []pane.Binding{
		{Name: "inspect-left", Keys: []string{"left", "h"}, Label: "left h", Help: "the measurement before: a cursor at the same step of every chart, its numbers in the borders", Action: m.inspectLeft},
		{Name: "inspect-right", Keys: []string{"right", "l"}, Label: "right l", Hint: "left right", Does: "inspect", Help: "the measurement after", Action: m.inspectRight},
		{Name: "quantity-next", Keys: []string{"]"}, Hint: "[ ]", Does: "quantity", Help: "show the next quantity in this chart: return, dormant ratio, losses, Q, α, F, speed, …", Action: m.quantityNext},
		{Name: "quantity-previous", Keys: []string{"["}, Help: "show the quantity before", Action: m.quantityPrevious},
		{Name: "marker-next", Shared: true, Keys: []string{"J"}, Does: "next marker", Help: "the cursor to the next marker: where a change came in force, or a note", Action: m.markerNext},
		{Name: "marker-previous", Shared: true, Keys: []string{"K"}, Help: "the cursor to the marker before", Action: m.markerPrevious},
		{Name: "closer", Shared: true, Keys: []string{"=", "up", "k"}, Label: "= up k", Hint: "= -", Does: "zoom", Help: "half the horizontal range of all charts, around the cursor or at the newest measurement", Action: m.zoomIn},
		{Name: "farther", Shared: true, Keys: []string{"-", "down", "j"}, Label: "- down j", Help: "twice the range; beyond what was measured, the whole run to come", Action: m.zoomOut},
		{Name: "pan-left", Shared: true, Keys: []string{",", "shift+left"}, Label: ", shift+left", Hint: ", .", Does: "pan", Help: "earlier", Action: m.panLeft},
		{Name: "pan-right", Shared: true, Keys: []string{".", "shift+right"}, Label: ". shift+right", Help: "later", Action: m.panRight},
		{Name: "axis", Shared: true, Keys: []string{"x"}, Does: "axis", Help: "what the charts count: env steps, critic updates or wall time", Action: m.nextAxis},
		{Name: "smooth", Shared: true, Keys: []string{"s"}, Help: "smoothing of the lines: none, 0.6, 0.9; what was measured stands as dots beside them, and the title says it", Action: m.nextSmoothing},
		{Name: "braille", Shared: true, Keys: []string{"b"}, Help: "draw the lines of all charts with Braille dots, two by four a character, or with line characters again", Action: m.nextChartStyle},
		{Name: "ghost-next", Shared: true, Keys: []string{"H"}, Help: "what stands faint behind the returns: other runs of these settings (median, quantiles .1 and .9), the newest forks without the change, the paper's result, or nothing", Action: m.nextShade},
		{Name: "seeds", Keys: []string{"e"}, Help: "of a run of several seeds (--members): the line of each seed, or their mean and from where to where they lie", Action: m.toggleSeeds},
		{Name: "log", Keys: []string{"y"}, Help: "logarithmic vertical axis for this quantity, or linear again", Action: m.toggleLog},
	}
}

func (m *Charts) inspectLeft() tea.Cmd  { return m.inspectMove(-1) }
func (m *Charts) inspectRight() tea.Cmd { return m.inspectMove(1) }

// inspectMove steps through the measurements of the chart in focus; the cursor stands at the same
// step of every chart. Before the first press it is after the last measurement.
func (m *Charts) inspectMove(by int) tea.Cmd {
	var steps []int
	if c := m.History.Main(m.shown(m.chartInFocus()).Lines[0].curve); c != nil {
		for _, s := range c.Samples {
			steps = append(steps, s.Step)
		}
	}
	m.moveCursor(steps, by)
	if m.shown(m.chartInFocus()).ID == "return" && m.CursorOn {
		m.Tell(m.said(m.Cursor))
	}
	return nil
}

// toggleSeeds draws the seeds of a cohort as separate lines, or together again.
func (m *Charts) toggleSeeds() tea.Cmd {
	if m.History.Members() == 1 {
		m.Refuse("one seed: pgrlab --members 4 trains four in lockstep")
		return nil
	}
	m.seeds = !m.seeds
	m.Changed()
	return nil
}

// markerNext and markerPrevious jump between the markers, whose whole text is in the line below.
func (m *Charts) markerNext() tea.Cmd     { return m.markerMove(1) }
func (m *Charts) markerPrevious() tea.Cmd { return m.markerMove(-1) }

func (m *Charts) markerMove(by int) tea.Cmd {
	var steps []int
	for _, k := range m.milestones() {
		steps = append(steps, k.step)
	}
	if len(steps) == 0 {
		m.Refuse("no marker yet: a knob's change draws one, and n notes one")
		return nil
	}
	m.moveCursor(steps, by)
	var at []string
	for _, k := range m.milestones() {
		if k.step == m.Cursor {
			at = append(at, k.said)
		}
	}
	if len(at) > 0 { // after the last marker the cursor stays where it is
		m.Tell(strings.Join(at, " and ") + " at step " + format.Count(m.Cursor))
	}
	return nil
}

// moveCursor goes to the next of the steps, which ascend, in a direction.
func (m *Charts) moveCursor(steps []int, by int) {
	if len(steps) == 0 {
		return
	}
	at := math.MaxInt
	if m.CursorOn {
		at = m.Cursor
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
		m.Cursor, m.CursorOn = next, true
	case !m.CursorOn:
		m.Cursor, m.CursorOn = steps[len(steps)-1], true
	}
	m.redrawCharts()
}

// chartInFocus is the chart that keys about charts refer to.
func (m *Charts) chartInFocus() pane.ID {
	if IsChart(m.Focused()) {
		return m.Focused()
	}
	return pane.Chart1
}

func (m *Charts) quantityNext() tea.Cmd     { return m.switchQuantity(1) }
func (m *Charts) quantityPrevious() tea.Cmd { return m.switchQuantity(len(Quantities) - 1) }

func (m *Charts) switchQuantity(by int) tea.Cmd {
	id := m.chartInFocus()
	m.Quantity[id] = (m.Quantity[id] + by) % len(Quantities)
	m.redrawCharts()
	return nil
}

func (m *Charts) nextAxis() tea.Cmd {
	m.Axis = (m.Axis + 1) % axisCount
	m.Window = window{}
	text := "the charts count " + map[axis]string{AxisSteps: "env steps", axisUpdates: "critic updates", axisWall: "wall time, pauses included"}[m.Axis]
	for i := range m.Others {
		if !m.places(&m.Others[i]) {
			text += "; " + m.RunLabel(i+1) + " is left out: its config.toml cannot be read"
		}
	}
	m.Tell(text)
	m.redrawCharts()
	return nil
}

func (m *Charts) nextSmoothing() tea.Cmd {
	m.Smooth = (m.Smooth + 1) % len(SmoothSteps)
	text := "no smoothing: the lines are what was measured"
	if weight := SmoothSteps[m.Smooth]; weight > 0 {
		text = fmt.Sprintf("smoothing %g: weight of the past per measurement; the dots are not smoothed", weight)
	}
	m.Tell(text)
	m.redrawCharts()
	return nil
}

// nextChartStyle switches the style of the charts' lines.
func (m *Charts) nextChartStyle() tea.Cmd {
	if m.Theme.Set != theme.Unicode {
		m.Tell("the characters of this screen have no Braille (glyphs in the settings)")
		return nil
	}
	m.Style = ChartStyles[(slices.Index(ChartStyles, m.Style)+1)%len(ChartStyles)]
	m.StyleCharts()
	m.Tell("charts drawn with " + m.Style + "; :save-settings keeps that")
	m.redrawCharts()
	return nil
}

func (m *Charts) toggleLog() tea.Cmd {
	q := m.shown(m.chartInFocus())
	m.log[q.ID] = !m.log[q.ID]
	m.Tell(strings.ToLower(q.title) + ": the vertical axis is " + map[bool]string{true: "logarithmic", false: "linear"}[m.log[q.ID]])
	m.redrawCharts()
	return nil
}

func (m *Charts) zoomIn() tea.Cmd {
	return m.ranged(m.rescale, 0.5, "the charts show as little as they can")
}
func (m *Charts) zoomOut() tea.Cmd  { return m.ranged(m.rescale, 2, "the charts show the whole run") }
func (m *Charts) panLeft() tea.Cmd  { return m.ranged(m.pan, -0.25, allShown) }
func (m *Charts) panRight() tea.Cmd { return m.ranged(m.pan, 0.25, allShown) }

const allShown = "the charts show all there is on that side; = zooms in"

// ranged changes the charts' range, or says why it stays.
func (m *Charts) ranged(change func(by float64), by float64, why string) tea.Cmd {
	lo, hi := m.Span()
	change(by)
	if l, h := m.Span(); l == lo && h == hi {
		m.Tell(why)
	}
	return nil
}

// Follow shows the whole range again, up to the newest measurement.
func (m *Charts) Follow() {
	m.Window, m.CursorOn = window{}, false
	m.redrawCharts()
}

// LeaveCursor removes the cursor; it says whether there was one.
func (m *Charts) LeaveCursor() bool {
	if !m.CursorOn {
		return false
	}
	m.CursorOn = false
	m.redrawCharts()
	return true
}

// Unzoom shows the whole axis again; it says whether only a part was shown.
func (m *Charts) Unzoom() bool {
	if !m.Window.zoomed {
		return false
	}
	m.Follow()
	return true
}

// CommandShow shows a quantity, by its name, in the chart in focus.
func (m *Charts) CommandShow(text string) error {
	i, ok := QuantityIndex(text)
	if !ok {
		return fmt.Errorf("show: want one of %s", strings.Join(quantityNames(), ", "))
	}
	p := m.chartInFocus()
	m.Quantity[p] = i
	if !m.Visible(p) {
		m.GoTo(p)
	}
	m.redrawCharts()
	return nil
}

// commandGoto puts the cursor on the marker with a label, or on a step.
func (m *Charts) commandGoto(text string) error {
	label := strings.TrimPrefix(text, "#")
	for _, k := range m.milestones() {
		if k.label == label {
			m.Cursor, m.CursorOn = k.step, true
			m.Tell(k.said + " at step " + format.Count(k.step))
			m.redrawCharts()
			return nil
		}
	}
	step, err := knob.ParseCount(strings.NewReplacer(",", "", "_", "").Replace(text))
	if err != nil {
		return fmt.Errorf("goto: there is no marker %q, and it is no step", text)
	}
	reached := 0
	if m.Snap != nil {
		reached = m.Snap.Step
	}
	if step > reached {
		return fmt.Errorf("goto: step %s is not reached: the run is at step %s", format.Count(step), format.Count(reached))
	}
	m.Cursor, m.CursorOn = step, true
	m.redrawCharts()
	return nil
}

func (m *Charts) commandAxis(text string) error {
	for a := range axisCount {
		if a.String() == text {
			m.Axis = (a + axisCount - 1) % axisCount
			m.nextAxis()
			return nil
		}
	}
	return fmt.Errorf("axis: want one of %s", strings.Join(AxisNames[:], ", "))
}

// ToggleInspect puts the cursor on the newest measurement, or removes it.
func (m *Charts) ToggleInspect() tea.Cmd {
	if m.LeaveCursor() {
		return nil
	}
	return m.inspectMove(-1)
}

// Click puts the cursor on the measurement nearest to a column of the pane.
func (p *Pane) Click(x, w int) {
	c := p.History.Main(p.shown(p.id).Lines[0].curve)
	if c == nil || w < 12 {
		return
	}
	lo, hi := p.Span()
	at := lo + (hi-lo)*float64(x-7)/float64(w-9) // approximately: labels on the left, border on the right
	best := c.Samples[0]
	distance := func(s history.Sample) float64 {
		d := p.Place(&p.History)(s.Step, s.Wall) - at
		return max(d, -d)
	}
	for _, s := range c.Samples {
		if distance(s) < distance(best) {
			best = s
		}
	}
	p.Cursor, p.CursorOn = best.Step, true
	p.redrawCharts()
}
