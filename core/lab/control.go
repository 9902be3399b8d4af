package lab

import (
	"context"
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// The ends of a run that are no errors, all of them errEnd.
var (
	errStop      = fmt.Errorf("stopped: %w", errEnd)
	errInterrupt = fmt.Errorf("interrupted: %w", errEnd)
)

// between is the place between two slices of a phase, behind done units: knobs turn
// here, a pause waits here, the run can be saved and can end here. over says that the
// phase goes no further.
func (x *experiment) between(ctx context.Context, p phase, done int) (over bool, err error) {
	if err := x.applyPending(ctx, knob.At(x.Step, p.Phase, done)); err != nil {
		return true, err
	}
	if p.cancel != nil && x.changes.Abandoned() {
		p.cancel()
		return true, nil
	}
	return false, nil
}

// applyPending is the place between two slices: position p. It carries out what was
// scheduled for p or before and what has been asked for, waits while the run is
// paused, and returns errStop or errInterrupt where the run is to end.
func (x *experiment) applyPending(ctx context.Context, p knob.Position) error {
	x.position, x.inSlice = p, false
	x.publish(x.now())
	x.checkpoints.consider()
	for s, due := x.steering.due(p); due; s, due = x.steering.due(p) {
		if s.Note != "" {
			x.steering.note(s.Note, x.steering.obs(s.By, "", asked{}))
			continue
		}
		by := s.By
		if by == "" {
			by = bySchedule
		}
		x.setKnob(event.SetKnob{Knob: s.Knob, Value: s.Value, Now: s.Now, By: by}, asked{})
	}
	for since, more := x.now(), true; more && !x.gate.stopping; {
		var c sent
		if c, more = x.receive(ctx); more {
			x.handle(c)
		} else {
			more = x.asides.advance(ctx, since)
		}
	}
	switch {
	case x.gate.stopping:
		return errStop
	case ctx.Err() != nil:
		return errInterrupt
	}
	x.inSlice = x.gate.broken == nil
	return x.gate.broken
}

// receive takes a command out of the mailbox; while the run is paused it waits for
// one.
func (x *experiment) receive(ctx context.Context) (c sent, more bool) {
	if x.gate.waits(ctx) && x.asides.work == nil {
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
	x.checkpoints.inPause()
	x.publish(time.Time{})
	var look <-chan time.Time
	if x.gate.disk != nil {
		timer := time.NewTimer(diskEvery)
		defer timer.Stop()
		look = timer.C
	}
	select {
	case c = <-x.lab.mailbox:
		return c, true
	case r := <-x.checkpoints.results():
		x.checkpoints.report(r)
		x.checkpoints.consider()
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

// handle carries out one command.
func (x *experiment) handle(c sent) {
	at := asked{at: c.at}
	switch c := c.Command.(type) {
	case event.SetKnob:
		if c.At != nil {
			x.steering.plan(c)
		} else {
			x.setKnob(c, at)
		}
	case event.Undo:
		x.undo(c, at)
	case event.Pause:
		if x.gate.pause == nil {
			x.gate.wait(event.Paused(c))
		}
	case event.Park:
		x.park(c)
	case event.Resume:
		x.resume(c)
	case event.Preview:
		x.asides.preview(c)
	case event.AnalyseNow:
		x.asides.analyseNow(c.By)
	case event.Map:
		x.asides.showMap(c)
	case event.Watch:
		x.asides.showMoment()
	case event.Stop:
		x.gate.stopping = true
	case event.HandOver:
		x.handOver(c)
	case event.Checkpoint:
		x.checkpoints.onDemand(c.By)
	case event.Note:
		x.steering.note(c.Text, x.steering.obs(c.By, "", at))
	case event.Attach:
		x.emit(event.TypeAttached, event.NoMember, event.View{By: c.By})
	case event.Detach:
		x.emit(event.TypeDetached, event.NoMember, event.View(c))
	}
	x.publish(time.Time{})
}

func (x *experiment) resume(c event.Resume) {
	if x.gate.pause == nil || !x.gate.unpark() {
		return
	}
	x.gate.open(c.By)
}

// setKnob is the transaction of a change: checked, set, confirmed. What is refused
// leaves the run untouched.
func (x *experiment) setKnob(c event.SetKnob, a asked) {
	k, v, err := x.steering.prepare(c)
	if err != nil {
		x.journal.refuse(c.ID, c.Knob, c.Value, c.By, err)
		return
	}
	if !a.at.IsZero() {
		x.checkpoints.before(k.Class)
	}
	x.steering.set(k, v, c, a)
	x.asides.restartPreview()
}

// undo sets a knob back, as a change of its own.
func (x *experiment) undo(c event.Undo, a asked) {
	back, err := x.steering.back(c)
	if err != nil {
		x.journal.refuse(c.Ref, "", "", c.By, err)
		return
	}
	a.undoes = c.ID
	x.setKnob(back, a)
}

// choose builds the relevance function of that name for every member, or changes
// nothing.
func (x *experiment) choose(name string) error {
	chosen := make([]func(), 0, len(x.members))
	for _, m := range x.members {
		f, err := m.BuildRelevance(name)
		if err != nil {
			return err
		}
		chosen = append(chosen, func() { m.F = f })
	}
	for _, set := range chosen {
		set()
	}
	return nil
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
