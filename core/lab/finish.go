package lab

import (
	"context"

	"pgrlab/core/knob"
)

// lastStep says whether the present env step is the run's last one.
func (x *experiment) lastStep() bool { return x.Step >= x.config.Steps }

// omits says whether the present env step leaves out a phase of the learner: in the last one D_real
// is not made again for a refit that is left out, because D_syn would be of another encoder.
func (x *experiment) omits(p phase) bool {
	return p.Phase == knob.Encode && x.lastStep() && x.changes.Todo() == knob.ClassRefit
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
