package replica

import (
	"cmp"
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// Phase is work that a replica does within an env step, after it was made, in slices. The members
// of a cohort go through it in lockstep.
type Phase struct {
	At    knob.Phase
	Doing string // for errors
	Once  bool   // only one env step of the run has it, so that its time is not that of others
	// Due says whether the present env step has the phase; it goes on saying so until the last slice.
	Due func(now Now) bool
	// Start begins the phase, if it is due, and returns how many units it has. It is not called if a
	// run is loaded in the middle of the phase.
	Start func(now Now) (total int, err error)
	// Slice does some of the units that follow the first done ones and returns how many: 0 if this
	// replica has no more of them, or never had any. ended says that none is left although there are
	// fewer than Start said; it may also be true after all of them.
	Slice func(now Now, done int) (n int, ended bool, err error)
}

// Phases returns the phases that come between an env step and a refit, in their order. Another
// replica of the cohort has the same ones.
func (r *Replica) Phases() []Phase { return r.phases }

// newPhases returns what Phases does.
func (r *Replica) newPhases() ([]Phase, error) {
	all := []Phase{modelParts{&r.Functions}.phase()} // 3, for an F whose updates are made in parts
	for _, p := range r.Agent.Phases {
		at, err := knob.LearnerPhase(p.Name)
		if err != nil {
			return nil, err
		}
		if before := all[len(all)-1]; !before.At.Before(at) {
			return nil, fmt.Errorf("phase %q of a learner comes after %q", p.Name, before.At)
		}
		all = append(all, r.learnerPhase(at, p)) // 7, for a learner that works after the step
	}
	if r.Config.Data.Pretrain > 0 {
		all = append(all, r.pretrain()) // 7, on recorded data
	}
	return append(all, r.Rounds.phase()), nil // 3, for an F that learns in rounds from the env steps it met
}

// learnerPhase returns a phase of the learner.
func (r *Replica) learnerPhase(at knob.Phase, p agent.Phase) Phase {
	return Phase{
		At: at, Doing: at.String(),
		Due: func(now Now) bool { return p.Due(r.work(now)) },
		Start: func(now Now) (int, error) {
			if at == knob.Encode && now.Refit {
				if err := r.Trial.ReportDrift(); err != nil {
					return 0, err
				}
			}
			return p.Start(r.work(now))
		},
		Slice: func(now Now, done int) (int, bool, error) {
			w := r.work(now)
			n, made, err := p.Slice(w, done)
			if err != nil {
				return 0, false, err
			}
			if r.Agent.Remark != nil {
				if text := r.Agent.Remark(); text != "" {
					r.emit(event.TypeDevice, event.Device{Text: text})
				}
			}
			if len(made) > 0 {
				r.noteMix(cmp.Or(made[0].Mix, w.Source.Mix), made[0].Before)
			}
			for k := range made {
				if err := r.Learned(&made[k]); err != nil {
					return 0, false, err
				}
			}
			return n, false, nil
		},
	}
}

// CheckPosition returns an error if p is within a phase of a learner, and this learner has no
// such phase.
func (r *Replica) CheckPosition(p knob.Position) error {
	if _, err := knob.LearnerPhase(p.Phase.String()); err != nil {
		return nil // not a learner's
	}
	if !slices.ContainsFunc(r.phases, func(has Phase) bool { return has.At == p.Phase }) {
		return fmt.Errorf("position %s: the learner of %s has no phase %s: want STEP, or a phase that the run has", p, r.Config.Method, p.Phase)
	}
	return nil
}
