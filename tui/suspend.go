package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// leaveNow asks the screen to leave, as ctrl+z does.
type leaveNow struct{}

// suspend is ctrl+z, the shell's key for having its terminal back: the run goes on
// without this screen. Where there is no run that could, the process is stopped, as the
// shell expects.
func (m *Model) suspend() tea.Cmd {
	switch {
	case m.options.Remote: // nothing of this process is on that terminal
		return m.leave()
	case m.picker != nil || m.options.Replay || m.ended() && m.raising() == 0:
		return tea.Suspend
	case m.lab == nil:
		m.leaveSoon = true
		m.changed()
		return nil
	case m.ended():
		return m.openQuit()
	}
	return m.detach()
}

// detach leaves the run training. The caller of Run hands it over, or notes that nobody
// watches any more.
func (m *Model) detach() tea.Cmd {
	switch {
	case m.options.Remote:
	case m.snap != nil && m.snap.Parked:
		m.tell("the run is parked: P takes the GPU again; or q s saves and stops it, and pgrlab train --resume goes on with it")
		return nil
	case m.forking != nil:
		m.tell("a fork is being made: leave when it is")
		return nil
	}
	return m.leave()
}

// raising counts the children of this screen's forks that are still to be trained.
func (m *Model) raising() (n int) {
	for _, b := range m.broods {
		for _, c := range b.children {
			if !c.done && c.failed == nil {
				n++
			}
		}
	}
	return n
}

// stopAllOf stops the run and its children.
func (m *Model) stopAllOf() tea.Cmd {
	if m.watching() {
		return m.leave()
	}
	m.stopAll = true
	if m.ended() {
		return m.leave()
	}
	return m.stop()
}

// askWhatNext asks what follows a run that is over.
func (m *Model) askWhatNext() tea.Cmd {
	want := func(o Outcome) func(m *Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			m.next = o
			return m.leave()
		}
	}
	m.dialog = &dialog{title: "the run is over", choices: []choice{
		{"q", "quit", (*Model).leave},
		{"r", "quit, and print its report", want(ReportRequested)},
		{"l", "to the first screen: earlier runs, and new ones", want(FirstScreenRequested)},
		{"esc", "look on", nil},
	}}
	return nil
}
