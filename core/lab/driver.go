package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/source"
)

// run drives the algorithm: env step by env step, and phase by phase within one. A run
// that was saved in the middle of an env step enters it there. The last env step leaves
// out what no training step would use (see leaveOut).
func (x *experiment) run(ctx context.Context) error {
	a := x.algorithm()
	for x.Step < x.config.Steps || x.entered() {
		if !x.entered() {
			if err := x.awaitChange(ctx); err != nil {
				return err
			}
			if err := x.makeStep(ctx, a.step); errors.Is(err, source.ErrEnvironment) {
				continue
			} else if err != nil {
				return err
			}
		}
		for _, p := range a.phases {
			if omit, err := x.turn(ctx, p); err != nil {
				return err
			} else if omit {
				continue
			}
			if err := x.drive(ctx, p); err != nil {
				return x.failed(p.doing, err)
			}
		}
		x.entry = knob.Position{} // a place in no phase of this run is after all of them
	}
	err := x.control.applyPending(ctx, knob.After(x.Step))
	x.inSlice = false
	return err
}

// makeStep begins the next env step and does its work. It returns source.ErrEnvironment if the
// step could not be made; it is made again when training goes on.
func (x *experiment) makeStep(ctx context.Context, all []work) error {
	if err := x.control.applyPending(ctx, knob.After(x.Step)); err != nil {
		return err
	}
	x.begin(x.Step + x.config.Environment.InLockstep())
	for _, p := range all {
		err := p.do()
		if errors.Is(err, source.ErrEnvironment) {
			x.takeBackStep()
			return err
		}
		if err != nil {
			return x.failed(p.doing, err)
		}
	}
	return nil
}

// drive does a phase if it is due: from its beginning, or from where the run was saved. Pieces
// that were done before the run was saved are done again, without a break.
func (x *experiment) drive(ctx context.Context, p phase) error {
	if x.entered() && x.entry.Phase != p.Phase {
		return nil // the run was saved in a later phase
	}
	first := x.enter(p.Phase)
	if !p.due() {
		return nil
	}
	if first == 0 && p.begin != nil {
		if err := p.begin(); err != nil {
			return x.givenUp(ctx, p, err)
		}
	}
	done, complete := first, false
	if first == 0 && p.first != nil {
		done = p.first()
	}
	if p.pieces != nil && first > 0 && first > p.sliced() {
		done, complete = p.sliced(), true
		if over, err := x.between(ctx, p, first); over {
			return err
		}
	}
	for !complete {
		if over, err := x.between(ctx, p, done); over {
			return err
		}
		var n int
		var err error
		if n, complete, err = p.slice(done); err != nil {
			return x.givenUp(ctx, p, err)
		}
		done += n
	}
	if p.pieces != nil {
		begin := x.now()
		for err := range p.pieces() {
			if err != nil {
				return err
			}
			if done++; done <= first {
				continue
			}
			x.meter.Took(p.Phase, x.now().Sub(begin))
			if over, err := x.between(ctx, p, done); over {
				return err
			}
			begin = x.now()
		}
	}
	err := p.end()
	x.publish(time.Time{})
	return err
}

// givenUp returns nil for source.ErrEnvironment, because the phase is given up and that has been
// reported, and every other error as it is. In a run that is to end the phase is not given up but
// put back to its beginning: what ends the run may have ended the environment's program as well.
func (x *experiment) givenUp(ctx context.Context, p phase, err error) error {
	switch {
	case !errors.Is(err, source.ErrEnvironment):
		return err
	case ctx.Err() == nil:
		return nil
	}
	x.position, x.inSlice = knob.At(x.Step, p.Phase, 0), false
	return errInterrupt
}

// failed adds to an error where it happened. The ends that applyPending reports are not
// failures, and why a run cannot go on says where.
func (x *experiment) failed(doing string, err error) error {
	if errors.Is(err, errEnd) || errors.Is(err, x.gate.broken) {
		return err
	}
	return fmt.Errorf("step %d: %s: %w", x.Step, doing, err)
}

// errEnd is wrapped by errStop and errInterrupt: the run ends between two slices.
var errEnd = errors.New("the run ends here")
