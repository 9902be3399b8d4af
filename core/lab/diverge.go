package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"pgrlab/core/event"
	"pgrlab/core/plan"
)

// diverged handles the error of work that met a number that is not finite: the first such error
// until somebody resumes is an event, and training waits. It returns all other errors.
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

// wayBack tells the user how to return to the state before the fault.
func wayBack(o *event.DivergedObs) string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf(": resume goes on; back to before: train --resume %s@%s", filepath.Dir(filepath.Dir(o.Checkpoint)), o.Position)
}

// faulted handles the error of an environment that cannot go on.
func (x *experiment) faulted(who int, doing string, err error) {
	obs := x.checkpoints.keepLast()
	x.emit(event.TypeDiverged, who, event.Diverged{Doing: doing, Position: x.position, Error: err.Error(), Obs: obs})
	x.gate.fault(faultSimulation, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, err, wayBack(obs)))
}
