package lab

import (
	"context"
	"errors"
	"fmt"

	"pgrlab/core/knob"
)

// run is Algorithm 1 of Wang et al. (ICLR 2025); the numbers are its lines. The
// paper puts lines 5 and 6 into every inner iteration; here they run when a refit
// is due, after the env step's updates, as in the authors' code (renwang435/pgr:
// synther/online/online_cond.py). Line 3 is in two places for the same reason: a
// relevance function that learns takes its step inside of line 7's updates, and
// real transitions are scored before the generator is fitted to them.
//
// Everybody who works in slices calls settle between them: that is where knobs
// turn, where a pause waits, where a run can be saved and where it can end. A run
// that was saved in the middle of an env step enters it there (see entered). The last
// env step leaves out what no training step would use (see leaveOut).
func (x *experiment) run(ctx context.Context) error {
	for x.Step < x.config.Steps || x.entered() { // 1
		if !x.entered() {
			if err := x.settle(ctx, knob.After(x.Step)); err != nil {
				return err
			}
			redo := x.Redo
			x.begin(x.Step + 1)
			if err := x.collect(); errors.Is(err, errAgain) {
				x.unbegin(redo)
				continue
			} else if err != nil { // 2
				return x.failed("collect", err)
			}
			if err := x.trainAgents(); err != nil { // 4
				return x.failed("train agent", err)
			}
		}
		if x.lastStep() {
			if err := x.leaveOut(ctx); err != nil {
				return err
			}
		}
		if x.entered() {
			if err := x.reenter(ctx); err != nil {
				return err
			}
		}
		if x.todo == workRefit {
			if err := x.updateRelevance(ctx); err != nil { // 3
				return x.failed("update relevance", err)
			}
			if err := x.fitModel(ctx); err != nil { // 5
				return x.failed("fit model", err)
			}
		}
		if x.todo == workGeneration {
			if err := x.generate(ctx); err != nil { // 6
				return x.failed("generate", err)
			}
		}
		if x.evaluationDue() {
			if err := x.evaluate(ctx); err != nil {
				return x.failed("evaluate", err)
			}
		}
		if x.analysisDue() {
			if err := x.analyse(ctx); err != nil {
				return x.failed("analyse", err)
			}
		}
	}
	err := x.settle(ctx, knob.After(x.Step))
	x.inSlice = false
	return err
}

// failed says where an error happened. The ends that settle reports are no errors.
func (x *experiment) failed(doing string, err error) error {
	if errors.Is(err, errEnd) {
		return err
	}
	return fmt.Errorf("step %d: %s: %w", x.Step, doing, err)
}

// errEnd is in every error of settle: the run ends between two slices.
var errEnd = errors.New("the run ends here")
