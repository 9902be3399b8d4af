package lab

import (
	"context"

	"pgrlab/core/knob"
)

// lastStep says whether the present env step is the run's last one.
func (x *experiment) lastStep() bool { return x.Step >= x.config.Steps }

// leaveOut drops what the last env step would do for those behind it: a refit or a
// generation that no training step would use. A run that is made longer has to go on
// as if its end had never been: before what only the end has, or lacks, the run is
// saved. What such an end writes, the evaluation off the cadence among it, moves to the
// tail then, and the refit that was due is made.
func (x *experiment) leaveOut(ctx context.Context) error {
	every := x.config.Evaluation.Every
	if x.marked || x.changes.Abandoned() && (every == 0 || x.Step%every == 0) {
		return nil // a longer run has the same, up to the place behind this env step
	}
	p := x.entry
	if !x.entered() {
		p = x.rest()
	}
	x.marking = true
	if x.changes.Abandoned() { // a longer run has no such place: nothing else is done there
		x.position, x.inSlice = p, false
		x.consider()
	} else if err := x.applyPending(ctx, p); err != nil {
		return err
	}
	for x.marking { // it waits for room on the disk
		if err := x.applyPending(ctx, p); err != nil {
			return err
		}
	}
	x.marked, x.markedAt = true, p
	x.changes.Abandon()
	return nil
}

// onDisk says whether the run is where it was saved for a longer one: saving it once more
// there would only take away from what that one has.
func (x *experiment) onDisk() bool { return x.marked && x.position == x.markedAt && x.unsaved == nil }

// ended says whether the run has, or lacks, what only its end does.
func (x *experiment) ended() bool { return x.marked && x.position != x.markedAt }

// rest is where the present env step goes on behind its updates.
func (x *experiment) rest() knob.Position {
	switch x.changes.Todo() {
	case knob.ClassRefit:
		return knob.Position{Step: x.Step, Phase: knob.Score}
	case knob.ClassGeneration:
		return knob.Position{Step: x.Step, Phase: knob.Generate}
	}
	return knob.Position{Step: x.Step, Phase: knob.Evaluate}
}

// mark saves the run where a longer one goes on and waits until that is on the disk. A
// run that was resumed here is on the disk.
func (x *experiment) mark() {
	if k := x.checkpoints; k != nil && k.saved != x.position {
		if k.busy != nil {
			x.saved(<-k.writer.Results())
		}
		if k.saved != x.position && !x.saveLastStep() {
			return
		}
	}
	x.marking = false
}

// saveLastStep takes that checkpoint; false: it waits for room on the disk.
func (x *experiment) saveLastStep() bool {
	k := x.checkpoints
	if x.gate.disk != nil || len(x.journal.backlog) > 0 {
		return false
	}
	x.checkpoint(byLastStep)
	if k.busy == nil {
		return true // it was said what is wrong
	}
	r := <-k.writer.Results()
	x.saved(r)
	if x.gate.disk != nil {
		return false
	}
	x.unsaved = r.Err
	return true
}
