package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"pgrlab/core/event"
	"pgrlab/core/plan"
	"pgrlab/core/run"
)

// diverged takes the error of something that met a number that is not finite:
// the first one until somebody resumes is an event, and training waits. Other
// errors are returned.
func (x *experiment) diverged(m *member, doing string, err error) error {
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		return err
	}
	var obs *event.DivergedObs
	if !x.gate.blamed[faultLoss] {
		obs = x.keepBefore()
		x.emit(event.TypeDiverged, m.index, event.Diverged{
			Doing: doing, Position: x.position, Program: where.Program, Op: where.Op, Tensor: where.Tensor, Error: where.Error(), Obs: obs,
		})
	}
	x.gate.fault(faultLoss, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, where, wayBack(obs)))
	return nil
}

// keepBefore marks the last checkpoint as one that stays; nil where there is none.
func (x *experiment) keepBefore() *event.DivergedObs {
	k := x.checkpoints
	if k == nil || k.path == "" {
		return nil
	}
	if k.marked != k.path {
		if err := run.Keep(k.path, fmt.Sprintf("before the fault at step %d", x.Step)); err != nil {
			x.emit(event.TypeNote, event.NoMember, event.Noted{Text: err.Error()})
		}
		k.marked = k.path
	}
	return &event.DivergedObs{Checkpoint: k.path, Position: k.saved}
}

// wayBack says, for the person, how to get back to before.
func wayBack(o *event.DivergedObs) string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf(": resume goes on; back to before: train --resume %s@%s", filepath.Dir(filepath.Dir(o.Checkpoint)), o.Position)
}

// abandon gives up the fit or the generation under way because it diverged. What
// there was before stays in force; a knob that is set "now" does it again.
func (x *experiment) abandon(m *member, doing string, err error) error {
	if err := x.diverged(m, doing, err); err != nil {
		return err
	}
	x.changes.Abandon()
	return nil
}
