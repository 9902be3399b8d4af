package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
)

// focusNext moves the focus to the next pane that the layout shows.
func (m *Model) focusNext() tea.Cmd     { return m.moveFocus(1) }
func (m *Model) focusPrevious() tea.Cmd { return m.moveFocus(len(m.panes) - 1) }

func (m *Model) moveFocus(by int) tea.Cmd {
	d := m.division()
	d.zoomed, d.focus = false, pane.Knobs
	shown := divide(d)
	at := slices.IndexFunc(m.panes, func(p pane.Pane) bool { return p.ID() == m.focus })
	for range m.panes {
		at = (at + by) % len(m.panes)
		m.focus = m.panes[at].ID()
		if m.focus == pane.Banner || m.focus == pane.Sentence && m.view != presentView || m.lacks(m.focus) {
			continue
		}
		if shown.kind >= tabbed || d.view == presentView || shown.visible(m.focus) { // present shows any
			break
		}
	}
	m.Relayout()
	return nil
}

// GoTo moves the focus to a pane; a pane that the view does not show fills the screen until the
// focus goes elsewhere.
func (m *Model) GoTo(id pane.ID) tea.Cmd {
	m.focus = m.standsFor(id)
	m.Relayout()
	return nil
}

// theLoop is what lessons call the layout present, in which the loop is.
const theLoop = "loop"

// leaveLoop goes back to the layout in which a lesson has begun to show the loop.
func (m *Model) leaveLoop() {
	if m.inLesson {
		m.inLesson = false
		m.view, m.zoomed = m.viewBefore, false
		if m.focus == pane.Sentence {
			m.focus = pane.Knobs
		}
		m.Relayout()
	}
}

// standsFor is the pane that shows what a pane is about: in a run that learns from frames, the map has
// the dreams.
func (m *Model) standsFor(id pane.ID) pane.ID {
	if id == pane.Dreams && m.About.Config.Sees() {
		return pane.Map
	}
	return id
}

func (m *Model) toggleZoom() tea.Cmd {
	if !m.zoomed && !m.moreWhenZoomed(m.focus) {
		m.Tell(m.pane(m.focus).Tab() + " shows all it has: the whole screen would add nothing")
		return nil
	}
	m.zoomed = !m.zoomed
	m.Relayout()
	return nil
}

func (m *Model) nextView() tea.Cmd { return m.setView((m.view + 1) % viewCount) }

func (m *Model) setView(v view) tea.Cmd {
	m.view, m.zoomed = v, false
	if m.focus == pane.Sentence || v != presentView && !divide(m.division()).visible(m.focus) {
		m.focus = pane.Knobs
	}
	m.Tell("layout " + v.String() + map[view]string{focusView: ": what matters", fullView: ": everything", presentView: ": one chart, the loop of the run and its state in words, one panel; tab changes which"}[v])
	m.Relayout()
	return nil
}

// toggle is a key that goes to a pane, which then fills the screen, and back again.
func (m *Model) toggle(id pane.ID) func() tea.Cmd {
	return func() tea.Cmd {
		id, large := m.standsFor(id), m.layout.kind == tabbed || m.view == presentView
		if m.focus == id && large {
			m.zoomed = m.returned
			return m.GoTo(m.returnTo)
		}
		if fromOther := large && (m.focus == pane.Agent || m.focus == pane.Dreams || m.focus == pane.WhatIfs); !fromOther {
			m.returnTo, m.returned = m.focus, m.zoomed
		}
		cmd := m.GoTo(id)
		if m.layout.kind < tabbed && m.view != presentView {
			m.zoomed = true
			m.Relayout()
		}
		return cmd
	}
}

// back undoes one layer: inspection, staged values, zoom, filter, a pane that the view does not
// show.
func (m *Model) back() tea.Cmd {
	for _, peel := range []func() bool{
		m.steering.Dismiss, m.ground.Dismiss, m.charts.LeaveCursor, m.steering.DropAll, m.unzoom,
		func() bool { return m.focus == pane.Events && m.events.Follow() },
		m.events.Unfilter, m.charts.Unzoom, m.runs.Forget,
	} {
		if peel() {
			return nil
		}
	}
	if m.layout.kind == tabbed && m.focus != pane.Knobs {
		return m.GoTo(pane.Knobs)
	}
	return nil
}

// unzoom gives the screen back to the other panes; it says whether a pane was zoomed.
func (m *Model) unzoom() bool {
	if !m.zoomed {
		return false
	}
	m.toggleZoom()
	return true
}

// follow shows the newest data: of the events while they are in focus, else of the charts.
func (m *Model) follow() tea.Cmd {
	if m.focus == pane.Events {
		m.events.Follow()
	} else {
		m.charts.Follow()
	}
	return nil
}

// redraw forgets what is on the terminal.
func (m *Model) redraw() tea.Cmd {
	m.Relayout()
	return tea.ClearScreen
}

// toggleMouse captures the mouse, or releases it: a terminal cannot select text while its mouse is
// captured.
func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.Tell("mouse on: click to focus and inspect, wheel to scroll and zoom; M gives it back")
		return tea.EnableMouseCellMotion
	}
	m.Tell("mouse off: the terminal has it again")
	return tea.DisableMouse
}

// mouseEvent handles a click or the wheel; the layout as drawn says which pane is meant.
func (m *Model) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	if !m.mouse || m.dialog != nil || m.help.IsOpen() || m.entry != nil || m.picker != nil || m.Lab == nil {
		return nil
	}
	p, ok := m.layout.under(msg.X, msg.Y)
	if !ok || msg.Action != tea.MouseActionPress {
		return nil
	}
	on := m.pane(p.id)
	switch msg.Button {
	case tea.MouseButtonLeft:
		if m.focus != p.id {
			return m.GoTo(p.id)
		}
		if c, ok := on.(pane.Clicker); ok {
			c.Click(msg.X-p.x, p.w)
		}
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		by := 1
		if msg.Button == tea.MouseButtonWheelUp {
			by = -1
		}
		if s, ok := on.(pane.Scroller); ok {
			return s.Scroll(by)
		}
	}
	return nil
}

// lookAt moves the focus to a quantity's chart or to a pane.
func (m *Model) lookAt(name string) error {
	if name == theLoop {
		if m.view != presentView {
			if m.viewBefore = m.view; m.focusBefore == "" {
				m.focusBefore = m.focus
			}
			m.setView(presentView)
			m.message, m.inLesson = "", true
		}
		if m.Relayout(); m.layout.kind == tabbed { // a lesson leaves no room for more
			m.GoTo(pane.Sentence)
		}
		return nil
	}
	m.leaveLoop()
	if name == "" { // the lesson is over
		if m.focus == pane.Dreams && m.focusBefore != "" {
			m.GoTo(m.focusBefore)
		}
		m.focusBefore = ""
		return nil
	}
	i, ok := charts.QuantityIndex(name)
	if !ok {
		return m.commandPane(name)
	}
	if id, ok := m.charts.Showing(i); ok {
		m.GoTo(id)
		return nil
	}
	m.GoTo(pane.Chart1)
	return m.charts.CommandShow(name)
}
