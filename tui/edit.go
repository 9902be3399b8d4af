package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

func (m *Model) knobUp() tea.Cmd   { return m.selectKnob(-1) }
func (m *Model) knobDown() tea.Cmd { return m.selectKnob(1) }

func (m *Model) selectKnob(by int) tea.Cmd {
	m.selected = min(max(m.selected+by, 0), len(m.knobs)-1)
	m.say(applied, "")
	return nil
}

func (m *Model) knobMore() tea.Cmd { return m.stageNext(1) }
func (m *Model) knobLess() tea.Cmd { return m.stageNext(-1) }

func (m *Model) stageNext(by int) tea.Cmd {
	k := m.knobs[m.selected]
	if m.usable(k) {
		m.stage(k, k.Next(m.wanted(k.Name), by))
	}
	return nil
}

// usable says, under the knobs, why a knob cannot be changed.
func (m *Model) usable(k lab.Knob) bool {
	if err := m.knobUse(k); err != nil {
		m.say(refused, err.Error())
		return false
	}
	if m.ended() {
		m.say(refused, "the run has ended")
		return false
	}
	return true
}

// stage remembers a value to send; the effective one is nothing to send.
func (m *Model) stage(k lab.Knob, v lab.Value) {
	if v == m.effective(k.Name) {
		delete(m.staged, k.Name)
	} else {
		m.staged[k.Name] = v
	}
	m.say(applied, "")
}

// knobEdit starts typing a value.
func (m *Model) knobEdit() tea.Cmd {
	if k := m.knobs[m.selected]; m.usable(k) {
		if k.Kind == lab.KindChoice {
			m.say(refused, "choose with "+m.theme.glyphs.left+m.theme.glyphs.right+": "+strings.Join(k.Choices, ", "))
			return nil
		}
		empty := ""
		m.editing = &empty
		m.say(applied, "")
	}
	return nil
}

// typed starts an edit with its first digit.
func (m *Model) typed(msg tea.KeyMsg) tea.Cmd {
	if s := msg.String(); m.focus == paneKnobs && len(s) == 1 && strings.Contains("0123456789.", s) {
		m.knobEdit()
		if m.editing != nil {
			*m.editing = s
		}
	}
	return nil
}

// editKey is a key while a value is being typed.
func (m *Model) editKey(key string, msg tea.KeyMsg) tea.Cmd {
	k := m.knobs[m.selected]
	switch key {
	case "esc":
		m.editing = nil
	case "backspace":
		if n := len(*m.editing); n > 0 {
			*m.editing = (*m.editing)[:n-1]
		}
	case "enter":
		text := *m.editing
		m.editing = nil
		v, err := k.Parse(text)
		if err != nil {
			m.say(refused, err.Error())
			return nil
		}
		m.stage(k, v)
	default:
		if len(msg.Runes) == 1 && strings.ContainsRune("0123456789.-+eE_", msg.Runes[0]) && len(*m.editing) < 12 {
			*m.editing += key
		}
	}
	m.history.touch(paneKnobs)
	m.changed()
	return nil
}
