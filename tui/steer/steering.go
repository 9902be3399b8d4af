// Package steer sends a person's requests to a run: values of knobs, which are staged first,
// previews of them, undoing, pauses and notes.
package steer

import (
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/topic"
)

// patience is the longest redo that enter starts without asking.
const patience = 5 * time.Second

// Sender is the screen's name as a sender, in the journal.
const Sender = "screen"

// Urgency says when to redo what depends on a change.
type Urgency int

const (
	WhenDue Urgency = iota // at the next generation or refit
	AtOnce
)

// Steering sends the person's requests to the run: pauses, notes, and changes of knobs, which are
// staged before they are sent. The screen shows what was sent as the lab confirms it.
type Steering struct {
	*pane.Run
	Staged  map[string]knob.Value // by knob: chosen but not sent yet
	Preview preview               // of the staged value
	Message string                // one line under the knobs: why something did not work
	Session int64                 // prefix of the ids of this screen's commands
	sent    int                   // number of commands sent, for their ids
}

// New steers the run of r.
func New(r *pane.Run) *Steering {
	return &Steering{Run: r, Staged: map[string]knob.Value{}}
}

// Say puts one line under the knobs, or at the foot if the knobs are not shown.
func (s *Steering) Say(text string) {
	s.Message = text
	s.Touch(topic.Staged)
	if text != "" && !s.Visible(pane.Knobs) {
		s.Tell(text)
	}
	s.Changed()
}

// TogglePause pauses the run at the end of the current slice, or resumes it. A replay that is over
// begins again.
func (s *Steering) TogglePause() tea.Cmd {
	if s.Paused() || s.About.Replay && s.Ended() {
		return s.order(event.Resume{By: Sender})
	}
	return s.order(event.Pause{By: Sender})
}

// TogglePark gives the GPU back, or takes it again and goes on. A run that is only paused is
// parked, too; on the CPU pausing and parking are the same.
func (s *Steering) TogglePark() tea.Cmd {
	gpu := s.About.Config.Device == "cuda"
	if s.Paused() && (s.Snap.Parked || !gpu) {
		return s.order(event.Resume{By: Sender})
	}
	if !gpu && s.Lab != nil && !s.Ended() {
		s.Tell("there is no GPU to give back: the run is saved and pauses; P or space goes on")
	}
	return s.order(event.Park{By: Sender})
}

// order sends a command to the lab while it runs.
func (s *Steering) order(c event.Command) tea.Cmd {
	if s.Ended() && !s.About.Replay {
		s.Tell("the run has ended")
		return nil
	}
	s.request(c)
	return nil
}

// request sends a command to the lab, or says why it was not sent.
func (s *Steering) request(c event.Command) (sent bool) {
	err := errNotStarted
	switch {
	case !s.MayDrive():
		err = pane.ErrWatchOnly
	case s.Lab != nil:
		err = s.Lab.Send(c)
	}
	if err != nil {
		s.Refuse(err.Error())
	}
	return err == nil
}

// errNotStarted refuses a command that comes before the run.
var errNotStarted = errors.New("the run has not started yet: wait for its first screen")

// Checkpoint saves the run in its present state; an event says when the checkpoint is on the disk.
func (s *Steering) Checkpoint() tea.Cmd {
	if s.request(event.Checkpoint{By: Sender}) {
		s.Tell("saving at the end of this slice")
	}
	return nil
}

// Analyse requests an analysis of the run; the findings come as an event.
func (s *Steering) Analyse() tea.Cmd {
	if s.request(event.AnalyseNow{By: Sender}) {
		s.Tell("analysing: training waits, the findings will be an event")
	}
	return nil
}

// AskGround asks whether the returns of late are typical of now; it says whether that was sent.
func (s *Steering) AskGround() (sent bool) {
	err := s.About.Config.CheckGround()
	switch {
	case s.About.Replay:
		err = errors.New("ground asks a run that trains; a replay shows the answers that it had, in the events")
	case err == nil && s.Ended():
		err = event.ErrEnded
	case err == nil && s.Snap != nil && s.Snap.Updates == 0:
		err = errors.New("ground: the agent has not learned yet: wait for its first updates")
	}
	if err != nil {
		s.Refuse(err.Error())
		return false
	}
	return s.request(event.Ground{By: Sender})
}

// LeaveGround ends that question.
func (s *Steering) LeaveGround() { s.request(event.LeaveGround{By: Sender}) }

// OpenNote asks for a remark.
func (s *Steering) OpenNote() tea.Cmd {
	err := s.Fixed() // before the person types a note that is lost
	if err == nil && s.Lab == nil {
		err = errNotStarted
	}
	if err != nil {
		s.Refuse(err.Error())
		return nil
	}
	s.Open(pane.NewEntry("note: ", "a line in the journal and a marker  enter write  esc cancel", func(text string) tea.Cmd { return s.WriteNote(text) }))
	return nil
}

// WriteNote writes a remark into the journal; it ignores an empty one.
func (s *Steering) WriteNote(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	if s.request(event.Note{Text: text, By: Sender}) {
		s.Tell("noted")
	}
	return nil
}
