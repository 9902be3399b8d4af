package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"pgrlab/core/event"
	"pgrlab/core/plan"
)

// diverged takes the error of something that met a number that is not finite:
// the first one until somebody resumes is an event, and training waits. Other
// errors are returned.
func (x *experiment) diverged(who int, doing string, err error) error {
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		return err
	}
	var obs *event.DivergedObs
	if !x.gate.blamed[faultLoss] {
		obs = x.checkpoints.keepLast()
		x.emit(event.TypeDiverged, who, event.Diverged{
			Doing: doing, Position: x.position, Program: where.Program, Op: where.Op, Tensor: where.Tensor, Error: where.Error(), Obs: obs,
		})
	}
	x.gate.fault(faultLoss, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, where, wayBack(obs)))
	return nil
}

// wayBack says, for the person, how to get back to before.
func wayBack(o *event.DivergedObs) string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf(": resume goes on; back to before: train --resume %s@%s", filepath.Dir(filepath.Dir(o.Checkpoint)), o.Position)
}

// faulted takes the error of an environment that can do nothing more.
func (x *experiment) faulted(who int, doing string, err error) {
	obs := x.checkpoints.keepLast()
	x.emit(event.TypeDiverged, who, event.Diverged{Doing: doing, Position: x.position, Error: err.Error(), Obs: obs})
	x.gate.fault(faultSimulation, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, err, wayBack(obs)))
}
