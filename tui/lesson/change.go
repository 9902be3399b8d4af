package lesson

import (
	"errors"
	"slices"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/history"
	"pgrlab/tui/steer"
)

// lessonSet requests a change for the lesson; ! in the text redoes at once what depends on it.
func (x *Lessons) lessonSet(text string, when steer.Urgency) error {
	a, err := x.ParseAssignment(text)
	if err != nil {
		return err
	}
	k := a.Knob
	now := x.coming(k.Name)
	if now == a.Value {
		return nil
	}
	if _, ok := x.Lesson.before[k.Name]; !ok && when == steer.AtOnce {
		x.Lesson.before[k.Name] = now
		x.Lesson.order = append([]string{k.Name}, x.Lesson.order...)
	}
	c := &history.Change{Knob: k.Name, From: now, To: a.Value, Class: k.Class, Now: a.Now && k.Class != knob.ClassBatch}
	x.Ask(c, func(ref string) event.Command {
		return event.SetKnob{ID: ref, Knob: k.Name, Value: a.Value.String(), Now: c.Now, By: x.Lesson.by()}
	})
	x.Lesson.asked = append(x.Lesson.asked, c)
	return refusal(c)
}

// refusal is why one of these changes was refused; nil: none was.
func refusal(changes ...*history.Change) error {
	for _, c := range changes {
		if c.State == history.Refused {
			return errors.New(c.Why)
		}
	}
	return nil
}

// PutBack requests the earlier values of the knobs that the lesson has set. A run that has ended keeps
// its last ones.
func (x *Lessons) PutBack() error {
	l := x.Lesson
	for _, name := range l.order {
		if x.Ended() {
			break
		}
		if err := x.lessonSet(name+"="+l.before[name].String(), steer.WhenDue); err != nil {
			return err
		}
	}
	l.order, l.before = nil, map[string]knob.Value{}
	x.Release()
	return nil
}

// coming is the value that a knob has once what was asked for is made.
func (x *Lessons) coming(name string) knob.Value {
	for _, c := range slices.Backward(x.History.Changes) {
		if c.Knob == name && c.State == history.Asked && c.At == 0 {
			return c.To
		}
	}
	return x.Effective(name)
}

// hold makes training wait for the lesson, unless it waits already.
func (x *Lessons) hold() error {
	if x.Paused() {
		return nil
	}
	x.Lesson.holds = true
	return x.Lab.Send(event.Pause{By: x.Lesson.by(), Passing: true})
}

// Release lets training go on if a lesson holds it.
func (x *Lessons) Release() {
	if l := x.Lesson; l != nil && l.holds && !x.Ended() {
		l.holds = false
		x.Report(x.Lab.Send(event.Resume{By: l.by(), Of: l.by()}))
	}
}

// by is the lesson's name as a sender.
func (l *Lesson) by() string { return "lesson " + l.Name }
