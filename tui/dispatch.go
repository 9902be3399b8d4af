package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// keystrokes takes what the terminal sent at once. Letters that were typed over a slow
// line, or that a held key repeats, arrive together: they are keys, one by one, until
// one of them leaves the screen. Text that was pasted is no key.
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

// pasted takes text that was pasted: in a text entry it is text, elsewhere it does
// nothing.
func (m *Model) pasted(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.entry != nil:
		return m.entryKey("", msg)
	case m.picker != nil:
		m.picker.pasted()
	default:
		m.tell(errPasted.Error())
	}
	return nil
}

// key dispatches a key: to the dialog, the text entry, the help, the picker, or the
// table.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	if m.told != "" {
		m.told = ""
		m.changed()
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
	case m.help.isOpen():
		return m.help.key(key)
	case m.picker != nil:
		return m.picker.key(key)
	}
	if key == "alt+esc" || key == "ctrl+g" { // two quick escapes arrive as one key
		key = "esc"
	}
	if m.lessons.given() {
		if cmd, taken := m.lessons.key(key); taken {
			m.changed()
			return cmd
		}
	}
	for _, b := range m.palette.keys {
		if b.matches(key, m.focus) {
			return m.act(b)
		}
	}
	return nil
}

// act does what a binding says, by key or by name.
func (m *Model) act(b binding) tea.Cmd {
	m.events.used(b.name)
	cmd := b.action()
	m.changed()
	return cmd
}

// entryKey is a key or a pasted text while an entry is open.
func (m *Model) entryKey(name string, msg tea.KeyMsg) tea.Cmd {
	e := m.entry
	defer func() {
		m.touch(topicStaged)
		m.changed()
	}()
	if e.replaceProposed(msg) {
		return nil
	}
	if msg.Paste {
		e.input, _ = e.input.Update(msg)
		e.chosen = e.unchosen
		return nil
	}
	switch {
	case escapes(name):
		m.entry = nil
	case name == "enter":
		m.entry = nil
		text := strings.TrimSpace(e.text())
		if c := e.candidates(); e.chosen >= 0 && e.chosen < len(c) {
			text = strings.TrimSpace(c[e.chosen].text)
		}
		return e.submit(text)
	case name == "tab":
		e.completeText()
	case name == "up" || name == "down":
		e.choose(name)
	case name == "backspace" && e.text() == "":
		m.entry = nil
	default:
		e.input, _ = e.input.Update(msg) // the cursor does not blink: its command is dropped
		e.chosen, e.back = e.unchosen, 0
	}
	return nil
}

// answer gives a key to the open dialog.
func (m *Model) answer(key string) tea.Cmd {
	d := m.dialog
	if escapes(key) || key == "backspace" || key == "n" && !d.has(key) {
		key = d.choices[len(d.choices)-1].key
	}
	for _, c := range d.choices {
		if c.key != key {
			continue
		}
		m.dialog = nil
		m.changed()
		if c.action != nil {
			return c.action()
		}
		return nil
	}
	return nil
}
