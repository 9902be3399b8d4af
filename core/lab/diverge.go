package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"pgrlab/core/plan"
	"pgrlab/core/run"
)

// Diverged says that something that learns met a number that is not finite, or that
// the simulation of an environment failed. What learns keeps its last good weights:
// what was not finite is not done. Training waits, so that somebody can change a knob
// and resume, or go back to the checkpoint, which is kept from then on.
type Diverged struct {
	Doing    string       `json:"doing"` // what was not done
	Position Position     `json:"position"`
	Program  string       `json:"program,omitempty"` // that computed it
	Op       string       `json:"op,omitempty"`
	Tensor   string       `json:"tensor,omitempty"`
	Error    string       `json:"error"` // where the first such number appeared, or what the simulation said
	Obs      *DivergedObs `json:"obs,omitempty"`
}

// DivergedObs is the way back.
type DivergedObs struct {
	Checkpoint string   `json:"checkpoint"` // path of the last one before
	Position   Position `json:"position"`   // where it was taken
}

// diverged takes the error of something that met a number that is not finite:
// the first one until somebody resumes is an event, and training waits. Other
// errors are returned.
func (x *experiment) diverged(m *member, doing string, err error) error {
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		return err
	}
	var obs *DivergedObs
	if !x.blamed[faultLoss] {
		obs = x.keepBefore()
		x.emit(TypeDiverged, m.index, Diverged{
			Doing: doing, Position: x.position, Program: where.Program, Op: where.Op, Tensor: where.Tensor, Error: where.Error(), Obs: obs,
		})
	}
	x.fault(faultLoss, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, where, obs.wayBack()))
	return nil
}

// keepBefore marks the last checkpoint as one that stays; nil where there is none.
func (x *experiment) keepBefore() *DivergedObs {
	k := x.keeper
	if k == nil || k.path == "" {
		return nil
	}
	if k.marked != k.path {
		if err := run.Keep(k.path, fmt.Sprintf("before the fault at step %d", x.Step)); err != nil {
			x.emit(TypeNote, NoMember, Noted{Text: err.Error()})
		}
		k.marked = k.path
	}
	return &DivergedObs{Checkpoint: k.path, Position: k.saved}
}

// wayBack says, for the person, how to get back to before.
func (o *DivergedObs) wayBack() string {
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
	x.todo = workNone
	return nil
}
