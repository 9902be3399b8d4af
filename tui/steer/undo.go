package steer

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// Undo takes the last change back, as a new change, or off the schedule if it is still to come. If that
// costs time it asks first, and the dialog says what undoing does not do.
func (s *Steering) Undo() tea.Cmd {
	if err := s.Fixed(); err != nil {
		s.Refuse(err.Error())
		return nil
	}
	if s.cancelLast() || s.awaitsAnswer() {
		return nil
	}
	last := s.History.LastUndoable()
	if last == nil || s.Lab == nil {
		s.Refuse("nothing to undo")
		return nil
	}
	s.undo(last, last.To)
	return nil
}

// undo takes a change back whose knob is at a value now.
func (s *Steering) undo(of *history.Change, from knob.Value) {
	s.takeBack(fmt.Sprintf("undo #%d", of.Number), of, from, func(now bool) {
		c := &history.Change{Knob: of.Knob, From: from, To: of.From, Class: of.Class, Undoes: of.Number, Now: now}
		s.Ask(c, func(ref string) event.Command {
			return event.Undo{ID: of.Number, Ref: ref, Now: now, By: Sender}
		})
	})
}

// Redo repeats the change that was undone last, as a new change.
func (s *Steering) Redo() tea.Cmd {
	if err := s.Fixed(); err != nil {
		s.Refuse(err.Error())
		return nil
	}
	if s.awaitsAnswer() {
		return nil
	}
	last := s.History.LastRedoable()
	if last == nil || s.Lab == nil {
		s.Refuse("nothing to redo: no change was undone")
		return nil
	}
	s.takeBack(fmt.Sprintf("redo #%d", last.Undoes), last, last.To, func(now bool) {
		c := &history.Change{Knob: last.Knob, From: last.To, To: last.From, Class: last.Class, Redoes: last.Undoes, Now: now}
		s.Ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: c.Knob, Value: c.To.String(), Now: now, By: Sender}
		})
	})
	return nil
}

// awaitsAnswer says, also to the person, whether the last change is not applied yet: the person does not
// mean the one before it.
func (s *Steering) awaitsAnswer() bool {
	c := s.History.LastStanding()
	if c == nil || c.State != history.Asked || s.Ended() {
		return false
	}
	why := "the last change is not applied yet"
	if c.At > 0 {
		why = fmt.Sprintf("the last change is planned for step %s: :cancel %s takes it off the schedule; :undo N takes change N back", format.Count(c.At), c.Knob)
	}
	s.Refuse(why)
	return true
}

// takeBack calls do to set the knob of change of, which is at a value now, to what it was before; what
// names that for the person. New samples or a refit are made now if that is quick, however the change
// itself was made; otherwise it first asks when to make them.
func (s *Steering) takeBack(what string, of *history.Change, from knob.Value, do func(now bool)) {
	cost, known := s.Cost(of.Class)
	switch {
	case of.Class == knob.ClassBatch:
		do(false)
		return
	case !s.Generated() || s.underWay(map[string]knob.Value{of.Knob: of.From}):
		do(of.Now)
		return
	case known && cost < patience:
		do(true)
		return
	}
	s.Question(&pane.Dialog{
		Title: fmt.Sprintf("%s: %s %s %s %s", what, s.KnobTitle(of.Knob), pane.Readable(from), s.Theme.Glyphs.Arrow, pane.Readable(of.From)),
		Lines: []string{"A new change sets the knob; the weights stay as they are.", redoing(of.Class)},
		Choices: []pane.Choice{
			{Key: "enter", Now: s.atNextRefit, Action: func() tea.Cmd { do(false); return nil }},
			{Key: "!", Now: func() string { return s.atOnce(of.Class) }, Action: func() tea.Cmd { do(true); return nil }},
			{Key: "esc", Label: "leave it", Action: nil},
		},
	})
}

// CommandUndo is "undo N": it takes change N back, or the last one if text is empty.
func (s *Steering) CommandUndo(text string) error {
	if err := s.Fixed(); err != nil {
		return err
	}
	if text == "" {
		s.Undo()
		return nil
	}
	id, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	for _, c := range s.History.Changes {
		if err == nil && c.Number == id {
			from := s.Effective(c.Knob)
			if from == c.From { // the run would make what depends on it again, for the same value
				return fmt.Errorf("undo: %s is %s already", c.Knob, pane.Readable(from))
			}
			s.undo(c, from)
			return nil
		}
	}
	return fmt.Errorf("undo: there is no change %s", text)
}
