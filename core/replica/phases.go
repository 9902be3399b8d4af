package replica

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
)

// LearnerPhases returns the learner's own phases, in the order of an env step, with the names
// that positions have for them.
func (r *Replica) LearnerPhases() ([]agent.Phase, []knob.Phase, error) {
	phased, has := r.Agent.(agent.Phased)
	if !has {
		return nil, nil, nil
	}
	phases := phased.Phases()
	at := make([]knob.Phase, len(phases))
	for i, p := range phases {
		var err error
		if at[i], err = knob.LearnerPhase(p.Name); err != nil {
			return nil, nil, err
		}
		if i > 0 && !at[i-1].Before(at[i]) {
			return nil, nil, fmt.Errorf("phase %q of a learner comes after %q", p.Name, phases[i-1].Name)
		}
	}
	return phases, at, nil
}

// CheckPosition returns an error if p is within a phase of a learner, and this learner has no
// such phase.
func (r *Replica) CheckPosition(p knob.Position) error {
	if _, err := knob.LearnerPhase(p.Phase.String()); err != nil {
		return nil // not a learner's
	}
	_, at, err := r.LearnerPhases()
	if err == nil && !slices.Contains(at, p.Phase) {
		err = fmt.Errorf("position %s: the learner of %s has no phase %s: want STEP, or a phase that the run has", p, r.Config.Method, p.Phase)
	}
	return err
}
