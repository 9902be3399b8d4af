package lab

import (
	"context"
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/run"
)

// The ends of a run that are no errors, all of them errEnd.
var (
	errStop      = fmt.Errorf("stopped: %w", errEnd)
	errInterrupt = fmt.Errorf("interrupted: %w", errEnd)
)

// applyPending is the place between two slices: position p. It carries out what was
// scheduled for p or before and what has been asked for, waits while the run is
// paused, and returns errStop or errInterrupt where the run is to end.
func (x *experiment) applyPending(ctx context.Context, p knob.Position) error {
	x.position, x.inSlice = p, false
	x.publish(x.now())
	x.consider()
	for len(x.schedule) > 0 && !p.Before(x.schedule[0].At) {
		s := x.schedule[0]
		x.schedule = x.schedule[1:]
		if s.Note != "" {
			x.note(s.Note, x.obs(s.By, "", asked{}))
			continue
		}
		by := s.By
		if by == "" {
			by = bySchedule
		}
		x.setKnob(event.SetKnob{Knob: s.Knob, Value: s.Value, Now: s.Now, By: by}, asked{})
	}
	for since, more := x.now(), true; more && !x.stopping; {
		var c sent
		if c, more = x.receive(ctx); more {
			x.handle(c)
		} else {
			more = x.advanceAside(ctx, since)
		}
	}
	switch {
	case x.stopping:
		return errStop
	case ctx.Err() != nil:
		return errInterrupt
	}
	x.inSlice = x.journal.broken == nil
	return x.journal.broken
}

// bySchedule is who makes the changes that were planned before the run.
const bySchedule = "schedule"

// waits says whether training has to wait here.
func (x *experiment) waits(ctx context.Context) bool {
	return x.pause != nil && !x.stopping && ctx.Err() == nil
}

// receive takes a command out of the mailbox; while the run is paused it waits for
// one.
func (x *experiment) receive(ctx context.Context) (c sent, more bool) {
	if x.waits(ctx) && x.aside == nil {
		return x.awaitCommand(ctx)
	}
	select {
	case c = <-x.lab.mailbox:
		return c, true
	default:
		return sent{}, false
	}
}

// awaitCommand waits for a command, or for anything else that may end a pause: then
// the command is empty.
func (x *experiment) awaitCommand(ctx context.Context) (c sent, more bool) {
	x.savePaused()
	var look <-chan time.Time
	if x.disk != nil {
		timer := time.NewTimer(diskEvery)
		defer timer.Stop()
		look = timer.C
	}
	select {
	case c = <-x.lab.mailbox:
		return c, true
	case r := <-x.results():
		x.saved(r)
		x.consider()
		return sent{}, true
	case <-look:
		x.tryDisk()
		return sent{}, true
	case <-ctx.Done():
		return sent{}, false
	}
}

// sent is a command with the time at which it was asked for.
type sent struct {
	event.Command
	at time.Time
}

// asked is who asked for a change, and when.
type asked struct {
	at     time.Time
	undoes int
}

// handle carries out one command.
func (x *experiment) handle(c sent) {
	at := asked{at: c.at}
	switch c := c.Command.(type) {
	case event.SetKnob:
		if c.At != nil {
			x.plan(c)
		} else {
			x.setKnob(c, at)
		}
	case event.Undo:
		x.undo(c, at)
	case event.Pause:
		if x.pause == nil {
			x.wait(event.Paused(c))
		}
	case event.Park:
		x.park(c)
	case event.Resume:
		x.resume(c)
	case event.Preview:
		x.preview(c)
	case event.AnalyseNow:
		x.analyseNow(c.By)
	case event.Map:
		x.showMap(c)
	case event.Watch:
		x.showMoment()
	case event.Stop:
		x.stopping = true
	case event.HandOver:
		x.handOver(c)
	case event.Checkpoint:
		x.askedToSave(c)
	case event.Note:
		x.note(c.Text, x.obs(c.By, "", at))
	case event.Attach:
		x.emit(event.TypeAttached, event.NoMember, event.View{By: c.By})
	case event.Detach:
		x.emit(event.TypeDetached, event.NoMember, event.View(c))
	}
	x.publish(time.Time{})
}

// wait makes training wait between two slices.
func (x *experiment) wait(p event.Paused) {
	x.pause = &p
	x.emit(event.TypePause, event.NoMember, p)
	x.meter.pause()
	x.publish(time.Time{})
}

func (x *experiment) resume(c event.Resume) {
	if x.pause == nil || !x.unpark() {
		return
	}
	x.pause, x.disk = nil, nil
	clear(x.blamed) // it is tried again now
	x.emit(event.TypeResume, event.NoMember, event.Resumed{By: c.By})
	x.flush()
}

// note writes what somebody wants written down.
func (x *experiment) note(text string, obs event.KnobObs) {
	p := x.position
	obs.At, obs.Sum = &p, knob.Scheduled{At: p, Note: text}.Sum()
	x.emit(event.TypeNote, event.NoMember, event.Noted{Text: text, Obs: obs})
}

// obs is the observed part of a line that a command caused.
func (x *experiment) obs(by, ref string, a asked) event.KnobObs {
	o := event.KnobObs{By: by, Ref: ref, Undoes: a.undoes}
	if !a.at.IsZero() {
		o.AskedS = run.Float(x.journal.seconds(a.at))
	}
	return o
}

// setKnob is the transaction of a change: checked, set, confirmed. What is refused
// leaves the run untouched.
func (x *experiment) setKnob(c event.SetKnob, a asked) {
	k, v, err := x.check(c.Knob, c.Value)
	if err == nil {
		err = x.prepare(k, v, c.Now)
	}
	if err != nil {
		x.refuse(c.ID, c.Knob, c.Value, c.By, err)
		return
	}
	if !a.at.IsZero() {
		x.saveBefore(k.Class)
	}
	change := event.KnobChanged{
		ID: len(x.changes.All()) + 1, Knob: k.Name, From: k.Get(&x.Settings), To: v, Class: k.Class,
		Position: x.position, Now: c.Now, Obs: x.obs(c.By, c.ID, a),
	}
	change.Obs.Sum = change.Scheduled().Sum()
	k.Set(&x.Settings, v)
	home := redo.FirstStage(k)
	o := x.outlook()
	if c.Now {
		change.Hint = x.changes.Now(home, o)
	}
	if change.Hint == "" {
		change.Hint = o.Hint(k, home)
	}
	change.Obs.Hint = x.changes.HintOfEnd(k, home, o)
	x.changes.Add(change, home)
	x.emit(event.TypeKnob, event.NoMember, change)
	x.restartPreview()
}

// check reads a command's knob and value.
func (x *experiment) check(name, text string) (knob.Knob, knob.Value, error) {
	k, err := knob.Find(name)
	if err != nil {
		return knob.Knob{}, knob.Value{}, err
	}
	if err := x.config.Uses(k); err != nil {
		return knob.Knob{}, knob.Value{}, err
	}
	v, err := k.Parse(text)
	return k, v, err
}

// prepare finds out whether a change can be made, and builds what it needs.
func (x *experiment) prepare(k knob.Knob, v knob.Value, now bool) error {
	if k.Get(&x.Settings) == v && !(now && redo.FirstStage(k) <= redo.Fitted) {
		return fmt.Errorf("%s is %s already", k.Name, k.Format(v))
	}
	after := x.Settings
	k.Set(&after, v)
	if err := x.config.Fits(&after); err != nil {
		return err
	}
	if k.Name == "relevance" {
		return x.choose(v.Text)
	}
	return nil
}

// choose builds the relevance function of that name for every member, or changes
// nothing.
func (x *experiment) choose(name string) error {
	chosen := make([]func(), 0, len(x.members))
	for _, m := range x.members {
		f, err := x.parts.makeRelevance(name, m)
		if err != nil {
			return err
		}
		chosen = append(chosen, func() { m.f = f })
	}
	for _, set := range chosen {
		set()
	}
	return nil
}

// plan puts a change on the schedule.
func (x *experiment) plan(c event.SetKnob) {
	_, _, err := x.check(c.Knob, c.Value)
	if err == nil {
		err = x.checkPhase(*c.At)
	}
	if err == nil && !x.position.Before(*c.At) {
		err = fmt.Errorf("%s: position %s has passed: the run is at %s", c.Knob, c.At, x.position)
	}
	if err != nil {
		x.refuse(c.ID, c.Knob, c.Value, c.By, err)
		return
	}
	s := knob.Scheduled{At: *c.At, Knob: c.Knob, Value: c.Value, Now: c.Now}
	x.schedule = append(x.schedule, s)
	knob.SortSchedule(x.schedule)
	x.emit(event.TypePlanned, event.NoMember, event.Planned{At: s.At, Knob: s.Knob, Value: s.Value, Now: s.Now, By: c.By, Sum: s.Sum()})
}

// undo sets a knob back, as a change of its own.
func (x *experiment) undo(c event.Undo, a asked) {
	if c.ID < 1 || c.ID > len(x.changes.All()) {
		x.refuse(c.Ref, "", "", c.By, fmt.Errorf("undo: there is no change %d", c.ID))
		return
	}
	change := x.changes.All()[c.ID-1]
	a.undoes = c.ID
	x.setKnob(event.SetKnob{ID: c.Ref, Knob: change.Knob, Value: change.From.String(), Now: c.Now, By: c.By}, a)
}

func (x *experiment) refuse(ref, knob, value, by string, err error) {
	x.emit(event.TypeRefused, event.NoMember, event.Refused{Ref: ref, Knob: knob, Value: value, By: by, Reason: err.Error()})
}

// Send asks for something. It never blocks: ErrBusy when too much was asked
// already, ErrEnded after the run.
func (l *Lab) Send(c event.Command) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return event.ErrEnded
	}
	select {
	case l.mailbox <- sent{c, time.Now()}:
		return nil
	default:
		return event.ErrBusy
	}
}
