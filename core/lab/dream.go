package lab

import (
	"context"
	"time"

	"pgrlab/core/knob"
)

// algorithm is what the run does.
func (x *experiment) algorithm() algorithm {
	if x.config.Dreams() {
		return x.dream()
	}
	return x.pgr()
}

// dream is Algorithm 1 without an agent, on the transitions that there are. A step of such a run is one
// generation: the first one fits the generator, and the others redo what a change asks for. Its rows are in
// force as soon as they are made, because no batch will have them.
func (x *experiment) dream() algorithm {
	generate := x.refit.generate()
	finish := generate.end
	generate.end = func() error {
		if err := finish(); err != nil {
			return err
		}
		x.inForce(x.changes.Seen())
		return nil
	}
	return algorithm{
		phases: []phase{
			x.refit.updateRelevance(), // 3
			x.refit.fitModel(),        // 5
			generate,                  // 6
			x.analyses.examine(),
		},
	}
}

// awaitChange waits, in a run without an agent, until a change asks for another generation.
func (x *experiment) awaitChange(ctx context.Context) error {
	for x.config.Dreams() && x.Step > 0 && !x.changes.Asked() {
		x.gate.rest()
		if err := x.control.applyPending(ctx, knob.After(x.Step)); err != nil {
			return err
		}
	}
	return nil
}

// Record makes recorded transitions, given in the order of time as rows [s, a, r, s', d], the beginning of
// every member's D_real. It must be called before Run.
func (l *Lab) Record(rows []float32) {
	for _, m := range l.x.members {
		m.Real.AddRows(rows)
	}
	l.x.publish(time.Time{})
}
