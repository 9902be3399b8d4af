package steer

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// ApplyStaged sends what is staged.
func (s *Steering) ApplyStaged() tea.Cmd { return s.Apply(s.Staged, WhenDue) }

// Apply sends values of knobs. Changes that need samples or a refit are made now if that is quick;
// otherwise it asks.
func (s *Steering) Apply(values map[string]knob.Value, when Urgency) tea.Cmd {
	class := s.classOf(values)
	cost, known := s.Cost(class)
	switch {
	case class == knob.ClassBatch || !s.Generated() || s.underWay(values):
		return s.Send(values, when, nil)
	case known && cost < patience:
		return s.Send(values, AtOnce, nil)
	}
	s.askCost(values)
	return nil
}

// ApplyNow sends what is staged and has it redone at once; if that takes long it asks first.
func (s *Steering) ApplyNow() tea.Cmd {
	if len(s.Staged) == 0 {
		s.Refuse("nothing is staged: change a value first")
		return nil
	}
	return s.Apply(s.Staged, AtOnce)
}

// askCost shows what it costs to apply the values, now or when due.
func (s *Steering) askCost(values map[string]knob.Value) {
	class := s.classOf(values)
	s.Question(&pane.Dialog{
		Title: "apply " + s.textOf(values),
		Lines: []string{redoing(class)},
		Choices: []pane.Choice{
			{Key: "enter", Now: s.atNextRefit, Action: func() tea.Cmd { return s.Send(values, WhenDue, nil) }},
			{Key: "!", Now: func() string { return s.atOnce(class) }, Action: func() tea.Cmd { return s.Send(values, AtOnce, nil) }},
			{Key: "esc", Label: "do not apply", Action: nil},
		},
	})
}

// atOnce says what it costs to make a change of that class at once.
func (s *Steering) atOnce(class knob.Class) string {
	cost, known := s.Cost(class)
	if !known {
		return "now: no env steps meanwhile, and how long that takes is not known yet"
	}
	return "now, " + format.Lasting(cost) + " without env steps"
}

// ApplyAt asks for the step after which to apply the staged values.
func (s *Steering) ApplyAt() tea.Cmd {
	if len(s.Staged) == 0 || s.Snap == nil {
		s.Refuse("nothing is staged: change a value first")
		return nil
	}
	var at knob.Position
	e := pane.NewEntry("apply "+s.StagedText()+" after step: ", "typing replaces it  enter set  esc cancel", func(string) tea.Cmd {
		return s.Send(s.Staged, WhenDue, &at)
	})
	e.Check = func(text string) (err error) {
		at, err = s.position(text)
		return err
	}
	e.Propose(fmt.Sprint((s.Snap.Step/1000 + 1) * 1000))
	s.Open(e)
	return nil
}

// position reads a place that is still to come.
func (s *Steering) position(text string) (at knob.Position, err error) {
	at, err = knob.ParsePosition(text)
	switch {
	case err != nil || s.Snap == nil:
	case at.Before(knob.After(s.Snap.Step)):
		err = fmt.Errorf("step %s has passed: the run is at %s", format.Count(at.Step), format.Count(s.Snap.Step))
	case at.Step > s.Snap.Steps:
		err = fmt.Errorf("step %s is after the end: the run has %s", format.Count(at.Step), format.Count(s.Snap.Steps))
	}
	return at, err
}

// DropStaged forgets the staged values.
func (s *Steering) DropStaged() tea.Cmd {
	clear(s.Staged)
	s.Say("")
	return nil
}

// Send requests values of knobs for a later position; nil: at once. Each comes after those without
// which the run would refuse it. These knobs are not staged any more.
func (s *Steering) Send(values map[string]knob.Value, when Urgency, at *knob.Position) tea.Cmd {
	if s.Watching() {
		s.Refuse(s.ErrNotDriving().Error() + "; the values stay staged")
		return nil
	}
	for _, k := range s.inOrder(values) {
		v := values[k.Name]
		delete(s.Staged, k.Name)
		c := &history.Change{Knob: k.Name, From: s.Effective(k.Name), To: v, Class: k.Class,
			Now: when == AtOnce && k.Class != knob.ClassBatch}
		if at != nil {
			c.At = at.Step
		}
		s.Ask(c, func(ref string) event.Command {
			return event.SetKnob{ID: ref, Knob: k.Name, Value: v.String(), Now: c.Now, By: Sender, At: at}
		})
	}
	return nil
}

// inOrder returns the knobs of values in an order in which the run can set them, or in that of the table,
// if there is none: the run says why.
func (s *Steering) inOrder(values map[string]knob.Value) (all []knob.Knob) {
	settings := s.About.Config.Knobs
	byName, given := map[string]knob.Knob{}, []knob.Scheduled(nil)
	for _, k := range s.KnobList {
		k.Set(&settings, s.Effective(k.Name))
		if v, ok := values[k.Name]; ok {
			byName[k.Name] = k
			given = append(given, knob.Scheduled{Knob: k.Name, Value: v.String()})
		}
	}
	if ordered, err := s.About.Config.InOrder(settings, given); err == nil {
		given = ordered
	}
	for _, g := range given {
		all = append(all, byName[g.Knob])
	}
	return all
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
		c.State, c.Why = history.Refused, errNotStarted.Error()
		return
	}
	if err := s.Lab.Send(command(c.Ref)); err != nil {
		c.State, c.Why = history.Refused, err.Error()
	}
}

// DropAll is DropStaged; it says whether anything was staged.
func (s *Steering) DropAll() bool {
	if len(s.Staged) == 0 {
		return false
	}
	s.DropStaged()
	return true
}

// Dismiss removes the line under the knobs; it says whether there was one.
func (s *Steering) Dismiss() bool {
	if s.Message == "" {
		return false
	}
	s.Say("")
	return true
}

func redoing(class knob.Class) string {
	if class == knob.ClassRefit {
		return "F is scored, the generator fitted from new and D_syn made again."
	}
	return "D_syn is made again from the generator as it is."
}

// atNextRefit says when a waiting change is made, if ever.
func (s *Steering) atNextRefit() string {
	if s.Snap == nil {
		return "at the next refit"
	}
	if left := s.Snap.Steps - s.Snap.Step; s.Snap.NextRefit <= 0 || s.Snap.NextRefit >= left {
		return "at the next refit, but the run ends before there is one, in " + format.Count(left) + " steps"
	}
	return "at the next refit, in " + format.Count(s.Snap.NextRefit) + " steps"
}

// underWay says whether the refit under way will use the values: its fit and its generation read each
// knob as they begin.
func (s *Steering) underWay(values map[string]knob.Value) bool {
	class := s.classOf(values)
	if s.Snap == nil || s.Ended() || class == knob.ClassBatch {
		return false
	}
	_, scores := values["relevance"]
	switch s.Phase() {
	case knob.Score:
		return !scores
	case knob.Fit:
		return class == knob.ClassGeneration
	}
	return false
}

// classOf is the most expensive class among changes.
func (s *Steering) classOf(values map[string]knob.Value) knob.Class {
	class := knob.ClassBatch
	for _, k := range s.KnobList {
		if _, ok := values[k.Name]; ok {
			class = max(class, k.Class)
		}
	}
	return class
}

// Wanted is the staged value of a knob, or the effective one.
func (s *Steering) Wanted(name string) knob.Value {
	if v, ok := s.Staged[name]; ok {
		return v
	}
	return s.Effective(name)
}

// Usable says whether a knob can be changed; if not it shows the reason under the knobs.
func (s *Steering) Usable(k knob.Knob) bool {
	if err := s.Fixed(); err != nil {
		s.Refuse(err.Error())
		return false
	}
	if err := s.KnobUse(k); err != nil {
		s.Refuse(err.Error())
		return false
	}
	if s.Ended() {
		s.Refuse("the run has ended")
		return false
	}
	return true
}

// Stage remembers a value to send; the effective value is not staged.
func (s *Steering) Stage(k knob.Knob, v knob.Value) {
	if v == s.Effective(k.Name) {
		delete(s.Staged, k.Name)
	} else {
		s.Staged[k.Name] = v
	}
	s.Say("")
	s.askPreview(k, v)
}
