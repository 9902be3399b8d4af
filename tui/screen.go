package tui

import (
	"cmp"
	"context"
	"image"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
	"pgrlab/tui/topic"
)

// The methods of pane.Host: what the parts of the screen ask of the screen.

func (m *Model) Changed() { m.stale = true }

func (m *Model) Tell(text string) {
	m.message = text
	m.Changed()
}

func (m *Model) Refuse(text string) { m.Tell(m.cross() + text) }

// cross stands before what was refused.
func (m *Model) cross() string { return m.Theme.Bad.On(m.Theme.Glyphs.Cross) + " " }

func (m *Model) Report(err error) tea.Cmd {
	switch {
	case err == errQuit:
		return m.leaving.leave()
	case err != nil:
		m.Refuse(err.Error())
	}
	return nil
}

func (m *Model) Question(d *pane.Dialog) { m.dialog = d }

func (m *Model) Typed() *pane.Entry { return m.entry }

func (m *Model) Focused() pane.ID { return m.focus }

func (m *Model) Visible(id pane.ID) bool { return m.layout.visible(id) }

func (m *Model) StartLater(cmd tea.Cmd) { m.later = tea.Batch(m.later, cmd) }

// takeLater returns the commands that StartLater was given, once.
func (m *Model) takeLater() tea.Cmd {
	cmd := m.later
	m.later = nil
	return cmd
}

// pane returns the pane of an ID; nil: there is none.
func (m *Model) pane(id pane.ID) pane.Pane {
	i := slices.IndexFunc(m.panes, func(p pane.Pane) bool { return p.ID() == id })
	if i < 0 {
		return nil
	}
	return m.panes[i]
}

// tabs are the panes that the tab bar names.
func (m *Model) tabs() []pane.Pane {
	return slices.DeleteFunc(slices.Clone(m.panes), func(p pane.Pane) bool { return p.ID() == pane.Sentence || p.ID() == pane.Banner || m.lacks(p.ID()) })
}

// lacks says whether a pane would never show anything of this run.
func (m *Model) lacks(id pane.ID) bool {
	return id == pane.Dreams && (m.About.Config.Sees() || !m.Generates())
}

// Open opens a text entry.
func (m *Model) Open(e *pane.Entry) {
	m.entry = e
	m.steering.Message = ""
	m.Touch(topic.Staged)
	m.Changed()
}

// showPictures makes the screen draw pictures in the way its terminal can show them.
func (m *Model) showPictures(ctx context.Context, out *frames, term string, cell func() image.Point) {
	m.pictures = newPictures(cmp.Or(m.options.Pictures, m.settings.Pictures), m.Theme.Set, term, m.options, cell)
	m.pictures.out, m.askPictures = out, m.pictures.Ask(ctx)
	m.Images, out.images = m.pictures.images, m.pictures.images
}

// setLink makes the screen watch the line to its terminal.
func (m *Model) setLink(l *link) { m.headline.link, m.system.Line = l, l.used }
