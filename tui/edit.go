package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
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
func (m *Model) usable(k knob.Knob) bool {
	if m.options.Replay {
		m.say(refused, ErrReplay.Error())
		return false
	}
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
func (m *Model) stage(k knob.Knob, v knob.Value) {
	if v == m.effective(k.Name) {
		delete(m.staged, k.Name)
	} else {
		m.staged[k.Name] = v
	}
	m.say(applied, "")
	m.askPreview(k, v)
}

// knobEdit starts typing a value; of a choice, its choices complete.
func (m *Model) knobEdit() tea.Cmd {
	k := m.knobs[m.selected]
	if !m.usable(k) {
		return nil
	}
	e := newEntry(symbol(k)+" = ", k.Range(), func(m *Model, text string) tea.Cmd {
		if text == "" {
			return nil
		}
		v, err := k.Parse(text)
		if err != nil {
			m.say(refused, err.Error())
			return nil
		}
		m.stage(k, v)
		return nil
	})
	e.inKnobs = m.layout.visible(paneKnobs)
	if k.Kind == knob.KindChoice {
		e.complete = func(_ *Model, text string) []candidate {
			var out []candidate
			for _, c := range k.Choices {
				if strings.HasPrefix(c, text) {
					out = append(out, candidate{c, ""})
				}
			}
			return out
		}
	}
	m.open(e)
	return nil
}
