package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// patience is the longest redoing that enter starts without asking.
const patience = 5 * time.Second

// sender is who asks, in the journal.
const sender = "screen"

// urgency says when what depends on a change is redone.
type urgency int

const (
	whenDue urgency = iota // at the next generation or refit
	atOnce
)

// steering sends what the person asks for to the run: pauses, notes, and changes of
// knobs, which are staged before they are sent. What was sent is shown as the lab
// confirms it.
type steering struct {
	*runView
	staged  map[string]knob.Value // by knob: chosen and not sent yet
	preview preview               // of what is staged
	message string                // one line under the knobs: why something did not work
	session int64                 // begins the ids of this screen's commands
	sent    int                   // commands sent, for their ids
}

// newSteering steers the run that r knows.
func newSteering(r *runView) *steering {
	return &steering{runView: r, staged: map[string]knob.Value{}}
}

// say puts one line under the knobs, or at the foot where they are not shown.
func (m *steering) say(text string) {
	m.message = text
	m.touch(topicStaged)
	if text != "" && !m.visible(paneKnobs) {
		m.tell(text)
	}
	m.changed()
}

func (m *steering) togglePause() tea.Cmd {
	if m.paused() {
		return m.order(event.Resume{By: sender})
	}
	return m.order(event.Pause{By: sender})
}

// togglePark gives the GPU back, or takes it again and goes on. A run that is only
// paused is parked, too; on the CPU there is no difference.
func (m *steering) togglePark() tea.Cmd {
	gpu := m.about.Config.Device == "cuda"
	if m.paused() && (m.snap.Parked || !gpu) {
		return m.order(event.Resume{By: sender})
	}
	if !gpu && m.lab != nil && !m.ended() {
		m.tell("there is no GPU to give back: the run is saved and pauses; P or space goes on")
	}
	return m.order(event.Park{By: sender})
}

// order sends a command to the lab while it runs.
func (m *steering) order(c event.Command) tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if m.ended() {
		m.tell("the run has ended")
		return nil
	}
	if err := m.lab.Send(c); err != nil {
		m.refuse(err.Error())
	}
	return nil
}

// checkpoint saves the run where it is; the event says when it is on the disk.
func (m *steering) checkpoint() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.Checkpoint{By: sender}); err != nil {
		m.refuse(err.Error())
		return nil
	}
	m.tell("saving at the end of this slice")
	return nil
}

// analyse has the run looked at; the findings are an event.
func (m *steering) analyse() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.AnalyseNow{By: sender}); err != nil {
		m.refuse(err.Error())
		return nil
	}
	m.tell("analysing: training waits, the findings will be an event")
	return nil
}

// openNote asks for a remark.
func (m *steering) openNote() tea.Cmd {
	if m.lab == nil {
		return nil
	}
	m.open(newEntry("note: ", "a line in the journal and a marker  enter write  esc cancel", func(text string) tea.Cmd { return m.writeNote(text) }))
	return nil
}

func (m *steering) writeNote(text string) tea.Cmd {
	if text == "" || m.lab == nil {
		return nil
	}
	if err := m.lab.Send(event.Note{Text: text, By: sender}); err != nil {
		m.refuse(err.Error())
		return nil
	}
	m.tell("noted")
	return nil
}
