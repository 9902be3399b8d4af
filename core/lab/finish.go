package lab

import (
	"context"

	"pgrlab/core/knob"
)

// lastStep says whether the present env step is the run's last one.
func (x *experiment) lastStep() bool { return x.Step >= x.config.Steps }

// leaveOut drops what the last env step would do for later ones: a refit or a generation that no
// training step would use. A run that is made longer has to go on as if it had never ended, so
// the run is saved before anything that only the end does or omits. When the longer run goes on,
// what the end wrote, such as an evaluation off the cadence, moves to the tail, and the refit
// that was due is made.
func (x *experiment) leaveOut(ctx context.Context) error {
	every := x.config.Evaluation.Every
	last := &x.checkpoints.lastStep
	if last.marked || x.changes.Abandoned() && (every == 0 || x.Step%every == 0) {
		return nil // a longer run does the same up to the end of this env step
	}
	p := x.entry
	if !x.entered() {
		p = x.rest()
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

// rest is where the present env step goes on after its updates.
func (x *experiment) rest() knob.Position {
	switch x.changes.Todo() {
	case knob.ClassRefit:
		return knob.Position{Step: x.Step, Phase: knob.Score}
	case knob.ClassGeneration:
		return knob.Position{Step: x.Step, Phase: knob.Generate}
	}
	return knob.Position{Step: x.Step, Phase: knob.Evaluate}
}
