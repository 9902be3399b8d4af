package lab

import (
	"context"

	"pgrlab/core/knob"
)

// lastStep says whether the present env step is the run's last one.
func (x *experiment) lastStep() bool { return x.Step >= x.config.Steps }

// turn is called before each phase of an env step and says whether to omit it. The last env step
// turns to the end of the run where a refit begins: before D_real is encoded for it, which is omitted,
// because D_syn would be of another encoder, or else before it is scored. There a run that was saved
// later in its env step also gives up what it had given up.
func (x *experiment) turn(ctx context.Context, p phase) (omit bool, err error) {
	switch {
	case p.Phase == knob.Encode && x.lastStep() && x.changes.Todo() == knob.ClassRefit:
		return true, x.leaveOut(ctx, knob.At(x.Step, p.Phase, x.enter(p.Phase)))
	case p.Phase != knob.Score:
		return false, nil
	case x.lastStep() && !x.config.Dreams():
		err = x.leaveOut(ctx, x.rest())
	}
	if err == nil {
		err = x.reenter(ctx)
	}
	return false, err
}

// leaveOut drops, at position p, what the last env step would do for later ones: a refit or a
// generation that no training step would use. A run that is made longer has to go on as if it had
// never ended, so the run is saved before anything that only the end does or omits. When the longer
// run goes on, what the end wrote, such as an evaluation off the cadence, moves to the tail, and the
// refit that was due is made.
func (x *experiment) leaveOut(ctx context.Context, p knob.Position) error {
	every := x.config.Evaluation.Every
	last := &x.checkpoints.lastStep
	if last.marked || x.changes.Abandoned() && (every == 0 || x.config.Reaches(x.Step, every)) {
		return nil // a longer run does the same up to the end of this env step
	}
	last.marking = true
	if x.changes.Abandoned() { // a longer run has no such place: nothing else is done there
		x.position, x.inSlice = p, false
		x.checkpoints.consider()
	} else if err := x.control.applyPending(ctx, p); err != nil {
		return err
	}
	for last.marking { // it waits for room on the disk
		if err := x.control.applyPending(ctx, p); err != nil {
			return err
		}
	}
	last.marked, last.markedAt = true, p
	x.changes.Abandon()
	return nil
}

// rest is where the present env step goes on after the learner's phases.
func (x *experiment) rest() knob.Position {
	if x.entered() {
		return x.entry
	}
	switch x.changes.Todo() {
	case knob.ClassRefit:
		return knob.Position{Step: x.Step, Phase: knob.Score}
	case knob.ClassGeneration:
		return knob.Position{Step: x.Step, Phase: knob.Generate}
	}
	return knob.Position{Step: x.Step, Phase: knob.Evaluate}
}

// lastStep is what a checkpointer keeps about the place from which a longer run goes on: in the
// last env step, before anything that only the end of a run does or omits.
type lastStep struct {
	marking  bool          // the run is to be saved there
	marked   bool          // the run was saved there, or could not be: see unsaved
	markedAt knob.Position // where that was; zero: an earlier process did it
	unsaved  error         // why it could not be saved; nil: it could
}

// onDisk says whether at is that place and is on the disk. Saving the run there again would only
// lose what a longer run needs.
func (l *lastStep) onDisk(at knob.Position) bool {
	return l.marked && at == l.markedAt && l.unsaved == nil
}

// passed says whether a run at position at is past that place, so that it has done or omitted
// what only the end of a run does or omits.
func (l *lastStep) passed(at knob.Position) bool { return l.marked && at != l.markedAt }

// mark saves the run where a longer one goes on, and waits until the checkpoint is on the disk.
// A run that was resumed at this place is on the disk already.
func (k *checkpointer) mark() {
	if at := k.place.position; k.writer != nil && k.saved != at {
		k.settle()
		if k.saved != at && !k.saveLastStep() {
			return
		}
	}
	k.lastStep.marking = false
}

// saveLastStep takes that checkpoint. It returns false while it waits for room on the disk.
func (k *checkpointer) saveLastStep() bool {
	if k.gate.disk != nil || len(k.journal.backlog) > 0 {
		return false
	}
	if k.lastStep.unsaved = k.take(byLastStep); k.busy == nil {
		return true // what went wrong has been reported
	}
	r := <-k.writer.Results()
	k.report(r)
	if k.gate.disk != nil {
		return false
	}
	k.lastStep.unsaved = r.Err
	return true
}
