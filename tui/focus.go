package tui

import tea "github.com/charmbracelet/bubbletea"

// focusNext moves the focus to the next pane that the layout shows.
func (m *Model) focusNext() tea.Cmd     { return m.moveFocus(1) }
func (m *Model) focusPrevious() tea.Cmd { return m.moveFocus(int(paneCount) - 1) }

func (m *Model) moveFocus(by int) tea.Cmd {
	d := m.division()
	base := d
	base.zoomed, base.focus = false, paneKnobs
	shown := divide(base)
	if base.view == presentView {
		base.focus = d.focus
		shown = divide(base)
	}
	for range paneCount {
		m.focus = (m.focus + paneID(by)) % paneCount
		if m.focus == paneSentence && m.view != presentView {
			continue
		}
		if shown.kind >= tabbed || shown.visible(m.focus) {
			break
		}
	}
	m.relayout()
	return nil
}

// goTo moves the focus to a pane; one that the view does not show fills the screen
// until the focus goes elsewhere.
func (m *Model) goTo(id paneID) tea.Cmd {
	m.focus = id
	m.relayout()
	return nil
}

func (m *Model) toggleZoom() tea.Cmd {
	m.zoomed = !m.zoomed
	m.relayout()
	return nil
}

func (m *Model) nextView() tea.Cmd { return m.setView((m.view + 1) % viewCount) }

func (m *Model) setView(v view) tea.Cmd {
	m.view, m.zoomed = v, false
	if m.focus == paneSentence || v != presentView && !divide(m.division()).visible(m.focus) {
		m.focus = paneKnobs
	}
	m.tell("layout " + v.String() + map[view]string{focusView: ": what matters", fullView: ": everything", presentView: ": one chart, one sentence, one panel; tab changes which"}[v])
	m.relayout()
	return nil
}

// toggleAgent goes to the agent view and back.
func (m *Model) toggleAgent() tea.Cmd {
	if m.focus == paneAgent {
		return m.goTo(m.returnTo)
	}
	m.returnTo = m.focus
	return m.goTo(paneAgent)
}

// back peels one layer: inspection, staged values, zoom, filter, a pane that the
// view does not show.
func (m *Model) back() tea.Cmd {
	d := m.division()
	d.zoomed = false
	switch {
	case m.message != "":
		m.say(applied, "")
	case m.cursorOn:
		m.cursorOn = false
		m.drawChartsAnew()
	case len(m.staged) > 0:
		return m.dropStaged()
	case m.zoomed:
		return m.toggleZoom()
	case m.focus == paneEvents && m.eventsUpBy > 0:
		return m.eventsFollow()
	case m.filter != "":
		m.setFilter("")
	case m.window.zoomed:
		return m.follow()
	case len(m.compared) > 0:
		m.compared = nil
		m.drawChartsAnew()
	case m.layout.kind == tabbed && m.focus != paneKnobs:
		return m.goTo(paneKnobs)
	}
	return nil
}

// toggleInspect puts the cursor on the newest measurement, or takes it away.
func (m *Model) toggleInspect() tea.Cmd {
	if m.cursorOn {
		m.cursorOn = false
		m.drawChartsAnew()
		return nil
	}
	return m.inspectMove(-1)
}

// redraw forgets what is on the terminal.
func (m *Model) redraw() tea.Cmd {
	m.relayout()
	return tea.ClearScreen
}

// toggleMouse takes the mouse, or gives it back: a terminal whose mouse is taken
// cannot select text.
func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.tell("mouse on: click to focus and inspect, wheel to scroll and zoom; M gives it back")
		return tea.EnableMouseCellMotion
	}
	m.tell("mouse off: the terminal has it again")
	return tea.DisableMouse
}

// mouseEvent is a click or the wheel; the layout that was drawn says where.
func (m *Model) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	if !m.mouse || m.dialog != nil || m.help || m.entry != nil || m.picker != nil || m.lab == nil {
		return nil
	}
	p, ok := m.layout.under(msg.X, msg.Y)
	if !ok || msg.Action != tea.MouseActionPress {
		return nil
	}
	_, chart := cellOf(p.id)
	switch msg.Button {
	case tea.MouseButtonLeft:
		if m.focus != p.id {
			return m.goTo(p.id)
		}
		if chart {
			m.inspectColumn(p, msg.X)
		}
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		up := msg.Button == tea.MouseButtonWheelUp
		switch {
		case p.id == paneEvents && up:
			return m.eventsUp()
		case p.id == paneEvents:
			return m.eventsDown()
		case p.id == paneKnobs && up:
			return m.knobUp()
		case p.id == paneKnobs:
			return m.knobDown()
		case chart && up:
			return m.zoomIn()
		case chart:
			return m.zoomOut()
		}
	}
	return nil
}

// inspectColumn puts the cursor on the measurement nearest to a column.
func (m *Model) inspectColumn(p place, x int) {
	c := m.history.curve(m.shown(p.id).lines[0].curve, 0)
	if c == nil || p.w < 12 {
		return
	}
	lo, hi := m.span()
	at := lo + (hi-lo)*float64(x-p.x-7)/float64(p.w-9) // about: labels left, border right
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
