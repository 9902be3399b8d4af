package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// rewound starts the history anew when the replay went back.
func (m *Model) rewound() {
	r, ok := m.lab.(*Replay)
	if !ok || r.Rewinds() == m.rewinds {
		return
	}
	m.rewinds = r.Rewinds()
	version := m.history.version
	m.history = history{clock: clock{from: m.options.Config.StartSteps, utd: float64(m.options.Config.Knobs.UTD)}, version: version}
	for i := range m.history.version {
		m.history.version[i]++
	}
	m.cursorOn = false
	m.changed()
}

// replaySpeed is how fast the replay plays.
func (m *Model) replaySpeed() float64 {
	if r, ok := m.lab.(*Replay); ok {
		return r.Faster(1)
	}
	return 1
}

// scrub moves a replay by a share of it.
func (m *Model) scrub(by float64) {
	if r, ok := m.lab.(*Replay); ok {
		r.Seek(by)
		m.poll()
		return
	}
	m.tell("only a replay can be wound: pgrlab replay DIR")
}

func (m *Model) scrubBack() tea.Cmd  { m.scrub(-0.05); return nil }
func (m *Model) scrubForth() tea.Cmd { m.scrub(0.05); return nil }

// faster and slower change the speed of a replay.
func (m *Model) faster() tea.Cmd { return m.speed(2) }
func (m *Model) slower() tea.Cmd { return m.speed(0.5) }

func (m *Model) speed(by float64) tea.Cmd {
	if r, ok := m.lab.(*Replay); ok {
		m.tell(fmt.Sprintf("%g seconds of the run in a second", r.Faster(by)))
	} else {
		m.tell("only a replay has a speed: pgrlab replay DIR")
	}
	return nil
}
