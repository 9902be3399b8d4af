package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/run"
)

// The ends of a run that are not failures. Both wrap errEnd.
var (
	errStop      = fmt.Errorf("stopped: %w", errEnd)
	errInterrupt = fmt.Errorf("interrupted: %w", errEnd)
)

// control carries out scheduled changes and commands, between two slices, and waits there while
// the gate is closed. It passes each command to the roles that it is for; only these change.
type control struct {
	common
	steering    *steering
	checkpoints *checkpointer
	asides      *asides
	publish     func(now time.Time) // a snapshot, if the last one is old or now is zero
	mailbox     chan sent
}

// between is called between two slices of a phase, after done units. Here knobs change, a pause
// waits, and the run can be saved or can end. over says that the phase goes no further.
func (x *experiment) between(ctx context.Context, p phase, done int) (over bool, err error) {
	if err := x.control.applyPending(ctx, knob.At(x.Step, p.Phase, done)); err != nil {
		return true, err
	}
	if p.cancel != nil && x.changes.Abandoned() {
		p.cancel()
		return true, nil
	}
	return false, nil
}

// applyPending is called between two slices, at position p. It carries out what was scheduled
// for p or before and the commands that have arrived, waits while the run is paused, and returns
// errStop or errInterrupt if the run is to end.
func (ctl *control) applyPending(ctx context.Context, p knob.Position) error {
	ctl.place.position, ctl.place.inSlice = p, false
	ctl.publish(ctl.now())
	ctl.checkpoints.consider()
	for s, due := ctl.steering.due(p); due; s, due = ctl.steering.due(p) {
		if s.Note != "" {
			ctl.steering.note(s.Note, ctl.steering.obs(s.By, "", asked{}))
			continue
		}
		a := asked{undoes: s.Undoes}
		if !s.Repeats() {
			a.plan = new(s.At) // a copy: an env step without changes allocates nothing
		}
		ctl.setKnob(event.SetKnob{ID: s.Ref, Knob: s.Knob, Value: s.Value, Now: s.Now, By: cmp.Or(s.By, bySchedule)}, a)
	}
	for since, more := ctl.now(), true; more && !ctl.gate.stopping; {
		var c sent
		if c, more = ctl.receive(ctx); more {
			ctl.handle(c)
		} else {
			if more = ctl.asides.advance(ctx, since); more {
				ctl.publish(ctl.now())
			}
		}
	}
	switch {
	case ctl.gate.stopping:
		return errStop
	case ctx.Err() != nil:
		return errInterrupt
	}
	ctl.place.inSlice = ctl.gate.broken == nil
	return ctl.gate.broken
}

// receive takes a command out of the mailbox; while the run is paused it waits for one.
func (ctl *control) receive(ctx context.Context) (c sent, more bool) {
	if ctl.gate.waits(ctx) && ctl.asides.idle() {
		return ctl.awaitCommand(ctx)
	}
	select {
	case c = <-ctl.mailbox:
		return c, true
	default:
		return sent{}, false
	}
}

// awaitCommand waits for a command, or for anything else that may end a pause, in which case the
// command is empty.
func (ctl *control) awaitCommand(ctx context.Context) (c sent, more bool) {
	ctl.checkpoints.inPause()
	ctl.publish(time.Time{})
	var look <-chan time.Time
	if d := ctl.gate.disk; d != nil {
		timer := time.NewTimer(d.untilLook())
		defer timer.Stop()
		look = timer.C
	}
	select {
	case c = <-ctl.mailbox:
		return c, true
	case r := <-ctl.checkpoints.results():
		ctl.checkpoints.report(r)
		ctl.checkpoints.consider()
		return sent{}, true
	case <-look:
		ctl.tryDisk()
		return sent{}, true
	case <-ctx.Done():
		return sent{}, false
	}
}

// tryDisk tries again what the disk did not take. If that succeeds and nothing else makes
// training wait, training goes on.
func (ctl *control) tryDisk() {
	if len(ctl.journal.backlog) > 0 {
		ctl.journal.flush()
	}
	k, d := ctl.checkpoints, ctl.gate.disk
	d.look = time.Time{}
	switch {
	case len(ctl.journal.backlog) > 0:
		ctl.gate.losePatience()
	case k.busy != nil:
	case k.asked != "":
		if k.mayFit() {
			k.take(k.asked) // the next look sees the result
		}
	case k.due != "": // here, where it was asked for, and not at a later place
		k.take(k.due)
	case ctl.gate.forDisk():
		by := "the disk takes it again"
		if run.IsFull(d.err) {
			by = "room on the disk"
		}
		ctl.resume(event.Resume{By: by})
	default:
		ctl.gate.disk = nil
	}
}

// sent is a command with the time at which it was asked for.
type sent struct {
	event.Command
	at time.Time
}

// handle carries out one command.
func (ctl *control) handle(c sent) {
	at := asked{at: c.at}
	switch c := c.Command.(type) {
	case event.SetKnob:
		if c.At != nil {
			ctl.steering.plan(c)
		} else {
			ctl.setKnob(c, at)
		}
	case event.Undo:
		ctl.undo(c, at)
	case event.Cancel:
		ctl.steering.cancel(c)
	case event.Pause:
		ctl.gate.request(c)
	case event.Park:
		ctl.park(c)
	case event.Resume:
		ctl.resume(c)
	case event.Preview:
		ctl.asides.preview(c)
	case event.AnalyseNow:
		ctl.asides.analyseNow(c.By)
	case event.Ground:
		ctl.asides.beginGround(c)
	case event.LeaveGround:
		ctl.asides.leaveGround(c)
	case event.Map:
		ctl.asides.showMap(c)
	case event.Watch:
		ctl.asides.showMoment()
	case event.Dreams:
		ctl.asides.showDreams(c)
	case event.Stop:
		ctl.gate.stopping = true
	case event.HandOver:
		ctl.handOver(c)
	case event.Checkpoint:
		ctl.checkpoints.onDemand(c)
	case event.Note:
		ctl.steering.note(c.Text, ctl.steering.obs(c.By, "", at))
	case event.Fork:
		ctl.journal.emit(event.TypeFork, event.NoMember, c.Forked)
	case event.ForkLook:
		ctl.journal.emit(event.TypeForkLook, event.NoMember, c.Looked)
	case event.Attach:
		ctl.journal.emit(event.TypeAttached, event.NoMember, event.View{By: c.By})
	case event.Detach:
		ctl.journal.emit(event.TypeDetached, event.NoMember, event.View(c))
		ctl.gate.left()
	}
	ctl.publish(time.Time{})
}

func (ctl *control) resume(c event.Resume) {
	p := ctl.gate.pause
	if p == nil || ctl.gate.rests() || c.Of != "" && c.Of != p.By || !ctl.gate.unpark() {
		return
	}
	ctl.gate.open(c.By)
}

// setKnob makes a change, or answers why it is refused; if it was planned, and is not made already, a
// note in the journal says so, because there may be no screen.
func (ctl *control) setKnob(c event.SetKnob, a asked) {
	c.Now = c.Now || ctl.config.Dreams() // nothing else would come to make use of it
	err := ctl.steering.change(c, a)
	if err == nil {
		ctl.gate.wake()
		ctl.asides.restartPreview()
		return
	}
	ctl.journal.refuse(c.ID, c.Knob, c.Value, c.By, err)
	if a.plan != nil && !errors.Is(err, redo.ErrAlready) {
		s := knob.Scheduled{At: *a.plan, Knob: c.Knob, Value: c.Value, Now: c.Now}
		ctl.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: fmt.Sprintf("planned, but not made: %s: %v", s, err)})
	}
}

// undo sets a knob back, as a change of its own.
func (ctl *control) undo(c event.Undo, a asked) {
	back, err := ctl.steering.back(c)
	if err != nil {
		ctl.journal.refuse(c.Ref, "", "", c.By, err)
		return
	}
	a.undoes = c.ID
	ctl.setKnob(back, a)
}

// answerRest refuses the commands that came too late, and writes down what was done already.
func (ctl *control) answerRest() {
	for {
		select {
		case c := <-ctl.mailbox:
			switch c := c.Command.(type) {
			case event.SetKnob:
				ctl.journal.refuse(c.ID, c.Knob, c.Value, c.By, event.ErrEnded)
			case event.Undo:
				ctl.journal.refuse(c.Ref, "", "", c.By, event.ErrEnded)
			case event.Cancel:
				ctl.journal.refuse(c.ID, c.Knob, c.Value, c.By, event.ErrEnded)
			case event.Preview:
				ctl.asides.preview(c)
			case event.AnalyseNow:
				ctl.journal.refuse("", "analyse", "", c.By, event.ErrEnded)
			case event.Ground:
				ctl.journal.refuse("", event.TypeGround, "", c.By, event.ErrEnded)
			case event.Note:
				ctl.journal.refuse("", "note", c.Text, c.By, event.ErrEnded)
			case event.Fork: // they are made already
				ctl.journal.emit(event.TypeFork, event.NoMember, c.Forked)
			case event.ForkLook:
				ctl.journal.emit(event.TypeForkLook, event.NoMember, c.Looked)
			}
		default:
			ctl.asides.dropAll(event.ErrEnded)
			return
		}
	}
}

// choose builds the relevance function of that name for every member, or on an error changes
// nothing.
func (x *experiment) choose(name string) error {
	chosen := make([]func(), 0, len(x.members))
	for _, m := range x.members {
		f, err := m.Functions.Build(name)
		if err != nil {
			return err
		}
		chosen = append(chosen, func() {
			m.F = f
			m.Functions.Drop(x.synthesis.Analysing.Relevance) // which an examination under way still looks at
		})
	}
	for _, set := range chosen {
		set()
	}
	return nil
}

// Send asks the run for something. It never blocks: it returns ErrBusy if too much was asked for
// already, and ErrEnded after the run.
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

// ErrHandedOver says that Run saved and ended because of a HandOver.
var ErrHandedOver = errors.New("handed over to another process")

// handOver takes the last checkpoint of this process and waits until it is on the disk.
func (ctl *control) handOver(c event.HandOver) {
	if err := ctl.place.guarded(func() error { return ctl.checkpoints.handOver(c.By) }); err != nil {
		ctl.journal.refuse(c.Ref, event.HandedOver, "", c.By, err)
		return
	}
	ctl.gate.stopping, ctl.gate.handedOver = true, true
}
