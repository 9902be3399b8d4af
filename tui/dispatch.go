package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/pane/fans"
	"pgrlab/tui/pane/runs"
	"pgrlab/tui/picker"
	"pgrlab/tui/topic"
)

// Update takes one message. Send is its only input or output, and Send does not block.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case polled:
		m.poll()
		return m, tea.Batch(m.tick(), m.takeLater(), m.fans.ReadJournals())
	case started:
		return m, m.begin(msg)
	case PicturesAnswered:
		if m.pictures.Take(msg) {
			m.Relayout()
		}
	case picked:
		return m, m.take(msg)
	case picker.Tried:
		if m.picker != nil {
			m.picker.TakeForecast(msg)
		}
	case picker.RecentRead:
		if m.picker != nil {
			m.picker.TakeRecent(msg)
		}
	case picker.Played:
		if m.picker != nil {
			return m, m.picker.TakePlayed(msg)
		}
	case runs.Loaded:
		m.runs.OverlayRun(msg)
	case charts.OthersRead:
		m.charts.TakeOthers(msg)
	case fans.Forked:
		m.fans.TakeForks(msg)
	case fans.Resumed:
		m.fans.TakeResumed(msg)
	case fans.ChildrenRead:
		m.fans.TakeChildren(msg)
	case tea.KeyMsg:
		cmd := m.keystrokes(msg)
		return m, tea.Batch(cmd, m.takeLater())
	case tea.MouseMsg:
		return m, m.mouseEvent(msg)
	case leaveNow:
		return m, m.leaving.suspend()
	case tea.ResumeMsg:
		m.pictures.Resumed()
		if m.mouse { // the program forgets the mouse on a suspend
			return m, tea.EnableMouseCellMotion
		}
	}
	return m, nil
}

// keystrokes takes what the terminal sent at once. Letters typed over a slow line, or repeated by a
// held key, arrive together; keystrokes handles them one by one until one of them leaves the
// screen. Pasted text is not a key.
func (m *Model) keystrokes(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.leaving.closed:
		return nil
	case msg.Paste:
		return m.pasted(msg)
	case msg.Type != tea.KeyRunes || len(msg.Runes) < 2:
		return m.key(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		if !m.leaving.closed {
			all = append(all, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
		}
	}
	return tea.Batch(all...)
}

// pasted takes pasted text: a text entry inserts it, anything else ignores it.
func (m *Model) pasted(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.entry != nil:
		return m.entryKey("", msg)
	case m.picker != nil:
		m.picker.Pasted()
	default:
		m.Tell(pane.ErrPasted.Error())
	}
	return nil
}

// key dispatches a key: to the dialog, the text entry, the help, the picker, or the
// table.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	defer m.projector.watch(msg)()
	key := msg.String()
	if m.message != "" {
		m.message = ""
		m.Changed()
	}
	if m.entry != nil && key != "ctrl+c" && key != "ctrl+z" {
		return m.entryKey(key, msg)
	}
	switch {
	case key == "ctrl+c":
		return m.leaving.interrupt()
	case key == "ctrl+z":
		return m.leaving.suspend()
	case m.dialog != nil:
		return m.answer(key)
	case m.help.IsOpen():
		return m.help.Key(key)
	case m.picker != nil:
		return m.picker.Key(key)
	}
	if key == "alt+esc" || key == "ctrl+g" { // two quick escapes arrive as one key
		key = "esc"
	}
	if m.lessons.Given() {
		if cmd, taken := m.lessons.Key(key); taken {
			m.Changed()
			return cmd
		}
	}
	for _, b := range m.palette.keys {
		if b.Matches(key, m.focus) {
			return m.act(b)
		}
	}
	return m.elsewhere(key)
}

// ofAgents are the keys that are about an agent, or about env steps to come.
var ofAgents = map[string]bool{
	"pause": true, "at": true, "fork": true, "placebo": true, "what-if": true, "agent": true, "park": true, "ground": true,
}

// act runs the action of a binding, whether it was called by key or by name.
func (m *Model) act(b pane.Binding) tea.Cmd {
	m.events.Used(b.Name)
	if m.Dreams() && !m.About.Replay && ofAgents[b.Name] {
		m.Tell(fmt.Sprintf("%s: this run has no agent: pgrlab dream only fits and prompts a generator", b.Name))
		return nil
	}
	cmd := b.Action()
	m.Changed()
	return cmd
}

// entryKey takes a key or pasted text while an entry is open.
func (m *Model) entryKey(name string, msg tea.KeyMsg) tea.Cmd {
	e := m.entry
	defer func() {
		m.Touch(topic.Staged)
		m.Changed()
	}()
	if e.Changes(); e.ReplaceProposed(msg) {
		return nil
	}
	if msg.Paste {
		e.Type(msg)
		e.Chosen = e.Unchosen
		return nil
	}
	switch {
	case pane.Escapes(name):
		m.entry = nil
	case name == "enter":
		text := strings.TrimSpace(e.Text())
		if c := e.Candidates(); e.Chosen >= 0 && e.Chosen < len(c) {
			text = strings.TrimSpace(c[e.Chosen].Text)
		}
		if e.Refuses(text) {
			return nil
		}
		m.entry = nil
		return e.Submit(text)
	case name == "tab":
		e.CompleteText()
	case name == "up" || name == "down":
		e.Choose(name)
	case name == "backspace" && e.Text() == "":
		m.entry = nil
	default:
		e.Type(msg)
		e.Chosen, e.Back = e.Unchosen, 0
	}
	return nil
}

// answer gives a key to the open dialog.
func (m *Model) answer(key string) tea.Cmd {
	d := m.dialog
	if pane.Escapes(key) || key == "backspace" || key == "n" && !d.Has(key) {
		key = d.Choices[len(d.Choices)-1].Key
	}
	for _, c := range d.Choices {
		if c.Key != key {
			continue
		}
		m.dialog = nil
		m.Changed()
		if c.Action != nil {
			return c.Action()
		}
		return nil
	}
	return nil
}
