package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/picker"
)

// Picker is the first screen, and says how a choice made there begins.
type Picker struct {
	picker.Choices

	// Open turns a choice into Options: the run, its folder, Start. It is called from a goroutine
	// of its own.
	Open func(picker.Picks) (Options, error)
}

// picked delivers the run that was opened.
type picked struct {
	options Options
	err     error
}

// openPicked opens a choice, outside the event loop.
func (m *Model) openPicked(c picker.Picks) tea.Cmd {
	open := m.options.Picker.Open
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = picked{err: fmt.Errorf("open the run: panic: %v", r)}
			}
		}()
		o, err := open(c)
		return picked{o, err}
	}
}

// forecast runs trials for the first screen's choice while that screen is open.
func (m *Model) forecast() tea.Cmd {
	if m.picker == nil {
		return nil
	}
	return m.picker.Forecast()
}

// readRecent reads the earlier runs for the first screen, if that is open.
func (m *Model) readRecent() tea.Cmd {
	if m.picker == nil {
		return nil
	}
	return m.picker.ReadRecent()
}

// take begins the run that was picked.
func (m *Model) take(msg picked) tea.Cmd {
	if msg.err != nil {
		return m.picker.Failed(msg.err)
	}
	m.picker = nil
	about := msg.options.About
	about.Picked = about.Replay
	about.Ended, about.LoadRun, about.LoadFork, about.LoadConfig, about.Remote = m.About.Ended, m.About.LoadRun, m.About.LoadFork, m.About.LoadConfig, m.About.Remote
	m.describe(about, msg.options.Start)
	m.Relayout()
	return m.start()
}
