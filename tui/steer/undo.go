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
	return s.takeBack("undo", last, func(now bool) {
		c := &history.Change{Knob: last.Knob, From: last.To, To: last.From, Class: last.Class, Undoes: last.Number, Now: now}
		s.Ask(c, func(ref string) event.Command {
			return event.Undo{ID: last.Number, Ref: ref, Now: now, By: Sender}
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
	return s.takeBack("redo", last, func(now bool) {
		c := &history.Change{Knob: last.Knob, From: last.To, To: last.From, Class: last.Class, Redoes: last.Number, Now: now}
		s.Ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: c.Knob, Value: c.To.String(), Now: now, By: Sender}
		})
	})
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

// takeBack calls do; if the change last needs new samples or a refit, it first asks when to redo
// them.
func (s *Steering) takeBack(verb string, last *history.Change, do func(now bool)) tea.Cmd {
	cost, known := s.Cost(last.Class)
	if last.Class == knob.ClassBatch || !s.Generated() || s.underWay(map[string]knob.Value{last.Knob: last.From}) || known && cost < patience {
		do(last.Now && last.Class != knob.ClassBatch)
		return nil
	}
	about := now(cost, known)
	s.Question(&pane.Dialog{
		Title: fmt.Sprintf("%s #%d: %s %s %s %s", verb, last.Number, s.KnobTitle(last.Knob), pane.Readable(last.To), s.Theme.Glyphs.Arrow, pane.Readable(last.From)),
		Lines: []string{"A new change sets the knob; the weights stay as they are.", redoing(last.Class)},
		Choices: []pane.Choice{
			{Key: "enter", Label: s.atNextRefit(), Action: func() tea.Cmd { do(false); return nil }},
			{Key: "!", Label: about, Action: func() tea.Cmd { do(true); return nil }},
			{Key: "esc", Label: "leave it", Action: nil},
		},
	})
	return nil
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
			s.Ask(&history.Change{Knob: c.Knob, From: s.Effective(c.Knob), To: c.From, Class: c.Class, Undoes: id}, func(ref string) event.Command {
				return event.Undo{ID: id, Ref: ref, By: Sender}
			})
			return nil
		}
	}
	return fmt.Errorf("undo: there is no change %s", text)
}
