package lab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// steering changes the knobs of a run: it checks a change, sets it, records what must be redone
// for it, and keeps the schedule of later changes. In the run it changes only the settings and
// the relevance function, which choose builds.
type steering struct {
	common
	settings     *knob.Settings
	changes      *redo.Changes
	beforeChange func()                       // is called before a change that was asked for as the run goes on
	choose       func(relevance string) error // builds the function of that name, or changes nothing
	outlook      func() redo.Outlook          // of the run as it is now
	hasPhase     func(knob.Position) error    // an error if the run has no such place

	schedule []knob.Scheduled // in the order of their positions
}

// asked says when a change was asked for, which change it undoes, and for where it was planned; nil:
// it was not.
type asked struct {
	at     time.Time
	undoes int
	plan   *knob.Position
}

// bySchedule names the author of changes that the configuration plans, and someone the person whose
// command gives no name.
const (
	bySchedule = "schedule"
	someone    = "person"
)

// read reads the schedule of a configuration; a knob that the method does not use is refused
// before the run begins.
func (s *steering) read(schedule []string) error {
	for _, text := range schedule {
		change, err := knob.ParseScheduled(text)
		if err != nil {
			return err
		}
		if _, _, err := s.config.ParseChange(change.Knob, change.Value); err != nil {
			return fmt.Errorf("schedule %q: %w", text, err)
		}
		change.At, change.Now = s.config.Place(change.At), change.Now || s.config.Dreams() // as it will be made
		s.schedule = append(s.schedule, change)
	}
	knob.SortSchedule(s.schedule)
	return nil
}

// due takes the next change for p or before out of the schedule.
func (s *steering) due(p knob.Position) (next knob.Scheduled, some bool) {
	for len(s.schedule) > 0 && !p.Before(s.schedule[0].At) {
		next, s.schedule = s.schedule[0], s.schedule[1:]
		if !next.IsCancelled() {
			return next, true
		}
	}
	return knob.Scheduled{}, false
}

// change makes a change as a transaction. An error says why it is refused, and leaves the run as it was.
func (s *steering) change(c event.SetKnob, a asked) error {
	k, v, err := s.config.ParseChange(c.Knob, c.Value)
	if err != nil {
		return err
	}
	if err := redo.Idle(k, s.settings, v, c.Now); err != nil {
		return err
	}
	after := *s.settings
	k.Set(&after, v)
	if err := s.config.Fits(&after); err != nil {
		return err
	}
	if k.Name == "relevance" {
		if err := s.gate.absent(); err != nil { // a model may have to be built, which takes the device
			return err
		}
	}
	if !a.at.IsZero() {
		s.beforeChange() // and before there is a model for the change
	}
	if k.Name == "relevance" {
		if err := s.choose(v.Text); err != nil {
			return err
		}
	}
	s.set(k, v, c, a)
	return nil
}

// set sets a knob, and writes the line of the change.
func (s *steering) set(k knob.Knob, v knob.Value, c event.SetKnob, a asked) {
	change := event.KnobChanged{
		ID: len(s.changes.All()) + 1, Knob: k.Name, From: k.Get(s.settings), To: v, Class: k.Class, Uses: relevance.Uses(v.Text),
		Position: s.place.position, Now: c.Now, Obs: s.obs(c.By, c.ID, a),
	}
	change.Obs.Sum = change.Scheduled().Sum()
	k.Set(s.settings, v)
	home, o := redo.FirstStage(k), s.outlook()
	if c.Now {
		change.Hint = s.changes.Now(home, o)
	}
	if change.Hint == "" {
		change.Hint = o.Hint(k, home)
	}
	change.Obs.Hint = s.changes.HintOfEnd(k, home, o)
	s.changes.Add(change, home)
	s.journal.emit(event.TypeKnob, event.NoMember, change)
}

// plan puts a change on the schedule.
func (s *steering) plan(c event.SetKnob) {
	place := s.config.Place(*c.At)
	c.Now = c.Now || s.config.Dreams() // as it will be made
	_, _, err := s.config.ParseChange(c.Knob, c.Value)
	if err == nil {
		err = s.hasPhase(place)
	}
	if at := s.place.position; err == nil && !at.Before(place) {
		err = fmt.Errorf("%s: position %s has passed: the run is at %s", c.Knob, c.At, at)
	}
	next := knob.Scheduled{At: place, Knob: c.Knob, Value: c.Value, Now: c.Now, By: cmp.Or(c.By, someone), Planned: true, Ref: c.ID}
	last := lastIndex(s.schedule, func(p knob.Scheduled) bool { return p.At == next.At && p.Knob == next.Knob && !p.IsCancelled() })
	if err == nil && last >= 0 && alike(next, s.schedule[last]) {
		err = fmt.Errorf("%s: %s is planned already", c.Knob, next)
	}
	if err != nil {
		s.journal.refuse(c.ID, c.Knob, c.Value, c.By, err)
		return
	}
	s.schedule = append(s.schedule, next)
	knob.SortSchedule(s.schedule)
	s.journal.emit(event.TypePlanned, event.NoMember, event.Planned{At: next.At, Knob: next.Knob, Value: next.Value, Now: next.Now, By: c.By, Sum: next.Sum()})
}

// cancel takes a change off the schedule.
func (s *steering) cancel(c event.Cancel) {
	asked := knob.Scheduled{At: s.config.Place(c.At), Knob: c.Knob, Value: c.Value}
	i := lastIndex(s.schedule, func(p knob.Scheduled) bool {
		asked.Now = p.Now // either
		return p.At == asked.At && !p.IsCancelled() && alike(asked, p)
	})
	if i < 0 {
		s.journal.refuse(c.ID, c.Knob, c.Value, c.By, fmt.Errorf("cancel: nothing is planned as %s:%s=%s", c.At, c.Knob, c.Value))
		return
	}
	p := s.schedule[i]
	s.schedule = slices.Delete(s.schedule, i, i+1)
	s.journal.emit(event.TypeCancelled, event.NoMember, event.Cancelled{At: p.At, Knob: p.Knob, Value: p.Value, Now: p.Now, Of: p.By, By: c.By, Ref: p.Ref, Sum: p.Sum()})
}

// back returns the change that sets a knob back.
func (s *steering) back(c event.Undo) (event.SetKnob, error) {
	all := s.changes.All()
	if c.ID < 1 || c.ID > len(all) {
		return event.SetKnob{}, fmt.Errorf("undo: there is no change %d", c.ID)
	}
	change := all[c.ID-1]
	return event.SetKnob{ID: c.Ref, Knob: change.Knob, Value: change.From.String(), Now: c.Now, By: c.By}, nil
}

// note writes a note as a line of the journal.
func (s *steering) note(text string, obs event.KnobObs) {
	p := s.place.position
	obs.At, obs.Sum = &p, knob.Scheduled{At: p, Note: text}.Sum()
	s.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: text, Obs: obs})
}

// obs is the observed part of a line that a command caused.
func (s *steering) obs(by, ref string, a asked) event.KnobObs {
	o := event.KnobObs{By: by, Ref: ref, Undoes: a.undoes, Plan: a.plan}
	if !a.at.IsZero() {
		o.AskedS = run.Float(s.journal.seconds(a.at))
	}
	return o
}
