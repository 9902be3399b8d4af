package steer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/history"
)

// CommandCancel is "cancel [KNOB] [@STEP]": it takes a change that is still to come off the schedule.
// Without KNOB and STEP there must be one alone.
func (s *Steering) CommandCancel(text string) error {
	if err := s.Fixed(); err != nil {
		return err
	}
	if s.Ended() {
		return event.ErrEnded
	}
	name, at, timed := strings.Cut(text, "@")
	plans := s.planned()
	if len(plans) == 0 {
		return errors.New("cancel: nothing is planned")
	}
	if name = strings.TrimSpace(name); name != "" {
		k, err := s.FindKnob(name)
		if err != nil {
			return err
		}
		plans = slices.DeleteFunc(plans, func(p knob.Scheduled) bool { return p.Knob != k.Name })
	}
	if timed {
		position, err := knob.ParsePosition(strings.TrimSpace(at))
		if err != nil {
			return err
		}
		position = s.About.Config.Place(position)
		plans = slices.DeleteFunc(plans, func(p knob.Scheduled) bool { return p.At != position })
	}
	if len(plans) == 0 {
		return fmt.Errorf("cancel: no such change is planned, but %s", planText(s.planned()))
	}
	last := plans[len(plans)-1] // of several changes of a knob for the same place, this one counts
	if slices.ContainsFunc(plans, func(p knob.Scheduled) bool { return p.Knob != last.Knob || p.At != last.At }) {
		return fmt.Errorf("cancel: which one? %s", planText(plans))
	}
	return s.cancel(last)
}

// PlannedKnobs are the names of the knobs that planned changes are of.
func (s *Steering) PlannedKnobs() (names []string) {
	for _, p := range s.planned() {
		if !slices.Contains(names, p.Knob) {
			names = append(names, p.Knob)
		}
	}
	return names
}

// planned returns the changes that are still to come, in order.
func (s *Steering) planned() []knob.Scheduled {
	if s.Snap == nil {
		return nil
	}
	return slices.Clone(s.Snap.Scheduled)
}

// planText lists planned changes as cancel names them.
func planText(plans []knob.Scheduled) string {
	var texts []string
	for _, p := range plans {
		texts = append(texts, fmt.Sprintf("%s @%s (%s)", p.Knob, p.At, p.Value))
	}
	return strings.Join(texts, ", ")
}

// cancelLast cancels the last change if this screen has planned it and it is still to come; else it
// says that it did not.
func (s *Steering) cancelLast() bool {
	c := s.History.LastStanding()
	if c == nil || c.State != history.Asked || c.At == 0 || s.Ended() {
		return false
	}
	for _, p := range s.planned() {
		if p.Ref == c.Ref {
			if err := s.cancel(p); err != nil {
				s.Refuse(err.Error())
			}
			return true
		}
	}
	return false
}

// cancel asks the run to take p off its schedule; its answer is an event.
func (s *Steering) cancel(p knob.Scheduled) error {
	if s.Watching() {
		return s.ErrNotDriving()
	}
	s.sent++
	s.Say("")
	return s.Lab.Send(event.Cancel{ID: fmt.Sprintf("%s-%d-%d", Sender, s.Session, s.sent), At: p.At, Knob: p.Knob, Value: p.Value, By: Sender})
}
