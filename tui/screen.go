package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// What the parts of the screen ask of it: see host.

func (m *Model) changed() { m.stale = true }

func (m *Model) tell(text string) {
	m.told = text
	m.changed()
}

func (m *Model) refuse(text string) { m.steering.say(text) }

func (m *Model) report(err error) tea.Cmd {
	switch {
	case err == errQuit:
		return m.leaving.leave()
	case err != nil:
		m.tell(m.theme.bad.on(m.theme.glyphs.cross) + " " + err.Error())
	}
	return nil
}

func (m *Model) question(d *dialog) { m.dialog = d }

func (m *Model) typed() *entry { return m.entry }

func (m *Model) focused() paneID { return m.focus }

func (m *Model) visible(id paneID) bool { return m.layout.visible(id) }

func (m *Model) startLater(cmd tea.Cmd) { m.later = cmd }

// takeLater is the command that startLater was given.
func (m *Model) takeLater() tea.Cmd {
	cmd := m.later
	m.later = nil
	return cmd
}

// pane is the pane of an ID; nil: there is none.
func (m *Model) pane(id paneID) pane {
	i := slices.IndexFunc(m.panes, func(p pane) bool { return p.ID() == id })
	if i < 0 {
		return nil
	}
	return m.panes[i]
}

// tabs are the panes that the tab bar names: all but the one of the layout present.
func (m *Model) tabs() []pane {
	return slices.DeleteFunc(slices.Clone(m.panes), func(p pane) bool { return p.ID() == paneSentence })
}

// open starts typing.
func (m *Model) open(e *entry) {
	m.entry = e
	m.steering.message = ""
	m.touch(topicStaged)
	m.changed()
}

// setLink has the screen watch the line to its terminal.
func (m *Model) setLink(l *link) { m.headline.link, m.system.line = l, l.used }
