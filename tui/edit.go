package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

func (m *knobsPane) up() tea.Cmd   { return m.selectKnob(-1) }
func (m *knobsPane) down() tea.Cmd { return m.selectKnob(1) }

func (m *knobsPane) selectKnob(by int) tea.Cmd {
	m.selected = min(max(m.selected+by, 0), len(m.knobList)-1)
	m.say("")
	return nil
}

func (m *knobsPane) more() tea.Cmd { return m.stageNext(1) }
func (m *knobsPane) less() tea.Cmd { return m.stageNext(-1) }

func (m *knobsPane) stageNext(by int) tea.Cmd {
	k := m.knobList[m.selected]
	if m.usable(k) {
		m.stage(k, k.Next(m.wanted(k.Name), by))
	}
	return nil
}

// edit starts typing a value; of a choice, its choices complete.
func (m *knobsPane) edit() tea.Cmd {
	k := m.knobList[m.selected]
	if !m.usable(k) {
		return nil
	}
	e := newEntry(symbol(k)+" = ", k.Range(), func(text string) tea.Cmd {
		if text == "" {
			return nil
		}
		v, err := k.Parse(text)
		if err != nil {
			m.refuse(err.Error())
			return nil
		}
		m.stage(k, v)
		return nil
	})
	if m.visible(paneKnobs) {
		e.pane = paneKnobs
	}
	if k.Kind == knob.KindChoice {
		e.complete = func(text string) []candidate {
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

// commandSet is "set KNOB VALUE", with the questions that the keys would ask.
func (m *knobsPane) commandSet(text string) error {
	a, err := m.parseAssignment(text)
	if err != nil {
		return err
	}
	if m.about.Replay {
		return ErrReplay
	}
	if m.ended() {
		return event.ErrEnded
	}
	clear(m.staged)
	m.choose(a.knob)
	m.stage(a.knob, a.value)
	switch {
	case len(m.staged) == 0:
		m.tell(a.knob.Name + " is " + readable(a.value) + " already")
	case a.at != nil && a.now:
		m.sendAt(atOnce, a.at)
	case a.at != nil:
		m.sendAt(whenDue, a.at)
	case a.now:
		m.applyNow()
	default:
		m.applyStaged()
	}
	return nil
}

func (m *knobsPane) commandStage(text string) error {
	a, err := m.parseAssignment(text)
	if err == nil {
		m.choose(a.knob)
		m.stage(a.knob, a.value)
		m.goTo(paneKnobs)
	}
	return err
}

// choose selects a knob in its pane.
func (m *knobsPane) choose(k knob.Knob) {
	for i := range m.knobList {
		if m.knobList[i].Name == k.Name {
			m.selected = i
		}
	}
}

// usedKnobs are the names of the knobs that the method uses.
func (m *knobsPane) usedKnobs() []string {
	var out []string
	for _, k := range m.knobList {
		if m.knobUse(k) == nil {
			out = append(out, k.Name)
		}
	}
	return out
}

// exposure is what training has seen since a change came into force: how much of
// D_real is younger, whether D_syn is, and the updates made.
func (m *knobsPane) exposure() string {
	c := m.history.lastApplied()
	if c == nil || c.state != inForce || m.snap == nil || m.snap.Real == 0 {
		return ""
	}
	s := m.snap
	young := min(s.Real, s.Step-c.forceStep+1)
	text := fmt.Sprintf("since #%d: %s of D_real", c.number, percent(float64(young)/float64(s.Real)))
	if s.Synthetic > 0 {
		renewed := "0%"
		if n := len(m.history.refits); n > 0 && m.history.refits[n-1].step >= c.appliedStep {
			renewed = "100%"
		}
		text += ", " + renewed + " of D_syn"
	}
	if s.Updates >= c.updates {
		text += ", " + count(int(s.Updates-c.updates)) + " updates"
	}
	return text
}
