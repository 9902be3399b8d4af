package lab

import (
	"errors"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/source"
)

// The length of a slice of an evaluation, in lockstep steps: fewer if every copy is drawn at
// each step.
const (
	evaluationSteps = 25
	drawnSteps      = 5
)

// evaluationSlice is how many lockstep steps a slice of an evaluation has.
func (x *experiment) evaluationSlice() int {
	if x.config.Sees() {
		return drawnSteps
	}
	return evaluationSteps
}

// evaluate plays whole episodes with the policy's mean action, or as the configuration has it,
// in a separate environment, and writes the lines of the step. The episodes are numbered by the
// evaluation, so that the same evaluation of two runs starts in the same states. An evaluation
// at the end of a run that is off the cadence has the number of the next one on the cadence,
// which such a run does not reach.
func (x *experiment) evaluate() phase {
	return phase{
		Phase: knob.Evaluate, doing: "evaluate",
		due: x.evaluationDue,
		begin: func() error {
			for _, m := range x.members {
				if m.Trial.Begun() {
					continue // it had begun when the run was saved
				}
				if err := x.orNone(m.Trial.Start(x.at(), x.evaluationNumber())); err != nil {
					return err
				}
			}
			x.total = x.task.EpisodeSteps
			return nil
		},
		slice: func(done int) (n int, complete bool, err error) {
			n, over, err := x.evaluateSlice(done)
			return n, over || done+n >= x.total, err
		},
		end: func() error {
			for _, m := range x.members {
				if err := m.Trial.Finish(x.views.of(m), x.evaluationNumber()); err != nil {
					return err
				}
			}
			x.emit(event.TypePerf, event.NoMember, x.perf())
			return nil
		},
	}
}

// evaluationNumber numbers the evaluation of the present env step.
func (x *experiment) evaluationNumber() uint64 {
	number := x.Step / x.config.Evaluation.Every
	if !x.config.Reaches(x.Step, x.config.Evaluation.Every) {
		number++
	}
	return uint64(number)
}

// evaluateSlice makes a slice of lockstep steps with every member, after done ones; over says that all
// episodes have ended. Episodes that had been saved and cannot be repeated begin again.
func (x *experiment) evaluateSlice(done int) (n int, over bool, err error) {
	defer x.meter.Measure(knob.Evaluate, &n)()
	over, n = true, min(x.evaluationSlice(), x.total-done)
	for _, m := range x.members {
		ended, err := m.Trial.Step(n)
		if errors.Is(err, source.ErrNotRepeated) {
			x.total = done + n + x.task.EpisodeSteps
			ended, err = false, m.Trial.Start(x.at(), x.evaluationNumber())
		}
		if err := x.orNone(err); err != nil {
			return 0, false, err
		}
		over = over && ended
	}
	return n, over, nil
}

// orNone gives up the evaluation of all members if the environment of one has failed. No
// member's lines are then written.
func (x *experiment) orNone(err error) error {
	if errors.Is(err, source.ErrEnvironment) {
		for _, m := range x.members {
			m.Trial.Abandon()
		}
	}
	return err
}
