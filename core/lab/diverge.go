package lab

import (
	"errors"
	"fmt"

	"pgrlab/core/plan"
)

// Diverged says that something that learns met a number that is not finite. It
// keeps its last good weights: what was not finite is not done. Training waits,
// so that somebody can change a knob and resume.
type Diverged struct {
	Doing    string   `json:"doing"` // what was not done
	Position Position `json:"position"`
	Program  string   `json:"program"`
	Op       string   `json:"op,omitempty"`
	Tensor   string   `json:"tensor,omitempty"`
	Error    string   `json:"error"` // where the first such number appeared
}

// diverged takes the error of something that met a number that is not finite:
// the first one until somebody resumes is an event, and training waits. Other
// errors are returned.
func (x *experiment) diverged(m *member, doing string, err error) error {
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		return err
	}
	if !x.blamed[faultLoss] {
		x.emit(TypeDiverged, m.index, Diverged{
			Doing: doing, Position: x.position, Program: where.Program, Op: where.Op, Tensor: where.Tensor, Error: where.Error(),
		})
	}
	x.fault(faultLoss, fmt.Sprintf("step %d: %s: %v", x.Step, doing, where))
	return nil
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
