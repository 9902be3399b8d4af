package steer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// ApplyStaged sends what is staged. Changes that need samples or a refit are made
// now where that is quick, and otherwise it asks.
func (s *Steering) ApplyStaged() tea.Cmd {
	class := s.stagedClass()
	cost, known := s.Cost(class)
	switch {
	case class == knob.ClassBatch || !s.Generated():
		return s.send(WhenDue)
	case known && cost < patience:
		return s.send(AtOnce)
	}
	s.askCost(class, cost, known)
	return nil
}

// ApplyNow sends what is staged and has it redone at once; what takes long asks
// first.
func (s *Steering) ApplyNow() tea.Cmd {
	if len(s.Staged) == 0 {
		s.Refuse("nothing is staged: change a value first")
		return nil
	}
	class := s.stagedClass()
	cost, known := s.Cost(class)
	if class == knob.ClassBatch || !s.Generated() || known && cost < patience {
		return s.send(AtOnce)
	}
	s.askCost(class, cost, known)
	return nil
}

// askCost shows what applying the staged values costs, now or when it is due.
func (s *Steering) askCost(class knob.Class, cost time.Duration, known bool) {
	about := now(cost, known)
	s.Question(&pane.Dialog{
		Title: "apply " + s.StagedText(),
		Lines: []string{redoing(class)},
		Choices: []pane.Choice{
			{Key: "enter", Label: s.atNextRefit(), Action: func() tea.Cmd { return s.send(WhenDue) }},
			{Key: "!", Label: about, Action: func() tea.Cmd { return s.send(AtOnce) }},
			{Key: "esc", Label: "do not apply", Action: nil},
		},
	})
}

// now says what making a change at once costs.
func now(cost time.Duration, known bool) string {
	if !known {
		return "now: no env steps meanwhile, and how long that takes is not known yet"
	}
	return "now, " + format.Lasting(cost) + " without env steps"
}

// ApplyAt asks for the step after which the staged values are to be applied.
func (s *Steering) ApplyAt() tea.Cmd {
	if len(s.Staged) == 0 || s.Snap == nil {
		s.Refuse("nothing is staged: change a value first")
		return nil
	}
	e := pane.NewEntry("apply "+s.StagedText()+" after step: ", "typing replaces it  enter set  esc cancel", func(text string) tea.Cmd {
		at, err := knob.ParsePosition(text)
		if err == nil && at.Before(knob.After(s.Snap.Step)) {
			err = fmt.Errorf("step %s has passed: the run is at %s", format.Count(at.Step), format.Count(s.Snap.Step))
		}
		if err == nil && at.Step > s.Snap.Steps {
			err = fmt.Errorf("step %s is after the end: the run has %s", format.Count(at.Step), format.Count(s.Snap.Steps))
		}
		if err != nil {
			s.Refuse(err.Error())
			return nil
		}
		return s.SendAt(WhenDue, &at)
	})
	e.Propose(fmt.Sprint((s.Snap.Step/1000 + 1) * 1000))
	s.Open(e)
	return nil
}

// DropStaged forgets the staged values.
func (s *Steering) DropStaged() tea.Cmd {
	clear(s.Staged)
	s.Say("")
	return nil
}

// send asks for every staged change, in the order of the table.
func (s *Steering) send(when Urgency) tea.Cmd { return s.SendAt(when, nil) }

// SendAt is send for a place to come; nil: at once.
func (s *Steering) SendAt(when Urgency, at *knob.Position) tea.Cmd {
	if s.Watching() {
		s.Refuse(s.Driver + " drives: D takes over; the values stay staged")
		return nil
	}
	for _, k := range s.KnobList {
		v, ok := s.Staged[k.Name]
		if !ok {
			continue
		}
		c := &history.Change{Knob: k.Name, From: s.Effective(k.Name), To: v, Class: k.Class,
			Now: when == AtOnce && k.Class != knob.ClassBatch}
		if at != nil {
			c.At = at.Step
		}
		s.Ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: k.Name, Value: v.String(), Now: c.Now, By: Sender, At: at}
		})
	}
	clear(s.Staged)
	return nil
}

// Ask sends a change and remembers it until the lab answers.
func (s *Steering) Ask(c *history.Change, command func(ref string) event.Command) {
	s.sent++
	c.Ref = fmt.Sprintf("%s-%d-%d", Sender, s.Session, s.sent)
	c.Wall, c.State = s.Now(), history.Asked
	if s.Snap != nil {
		c.AskedStep = s.Snap.Step
	}
	s.History.Changes = append(s.History.Changes, c)
	s.History.Add(history.EventLine{Wall: c.Wall, Step: c.AskedStep, Kind: "knob", Change: c})
	s.Say("")
	if s.Lab == nil {
		c.State, c.Why = history.Refused, "the run has not started yet"
		return
	}
	if err := s.Lab.Send(command(c.Ref)); err != nil {
		c.State, c.Why = history.Refused, err.Error()
	}
}

// Undo takes the last change back, as a new change. What costs time asks first, and
// the dialog says what undoing is not.
func (s *Steering) Undo() tea.Cmd {
	if c := s.LastChange(); c != nil && c.State == history.Asked && c.At == 0 { // what came before it is not what was meant
		s.Refuse("the last change is not applied yet")
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

// Redo makes the change that was undone last once more, as a new change.
func (s *Steering) Redo() tea.Cmd {
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

// takeBack asks, where the change last needs new samples or a refit, when to redo
// them, and then calls do.
func (s *Steering) takeBack(verb string, last *history.Change, do func(now bool)) tea.Cmd {
	cost, known := s.Cost(last.Class)
	if last.Class == knob.ClassBatch || !s.Generated() || known && cost < patience {
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

// CommandUndo is "undo N": it takes change N back, or the last one where text is empty.
func (s *Steering) CommandUndo(text string) error {
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

// DropAll is dropStaged; it says whether anything was staged.
func (s *Steering) DropAll() bool {
	if len(s.Staged) == 0 {
		return false
	}
	s.DropStaged()
	return true
}

// Dismiss takes the line under the knobs away; it says whether there was one.
func (s *Steering) Dismiss() bool {
	if s.Message == "" {
		return false
	}
	s.Say("")
	return true
}

func redoing(class knob.Class) string {
	if class == knob.ClassRefit {
		return "F is scored, the generator fitted from new and D_syn made anew."
	}
	return "D_syn is made anew from the generator as it is."
}

// atNextRefit says when a change is made that waits, if it ever is.
func (s *Steering) atNextRefit() string {
	if left := s.Snap.Steps - s.Snap.Step; s.Snap.NextRefit <= 0 || s.Snap.NextRefit >= left {
		return "at the next refit, but the run ends before there is one, in " + format.Count(left) + " steps"
	}
	return "at the next refit, in " + format.Count(s.Snap.NextRefit) + " steps"
}
