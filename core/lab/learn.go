package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// learnerPhases are those of the run's learner. Members go in lockstep: theirs have
// equally many units.
func (x *experiment) learnerPhases() (all []phase) {
	phases, at, _ := x.first().LearnerPhases() // newLab has looked at the error
	for i, p := range phases {
		all = append(all, phase{
			Phase: at[i], doing: p.Name,
			due: func() bool { return p.Due(x.work(x.first())) },
			slice: func(done int) (n int, complete bool, err error) {
				if done == 0 {
					if err := x.startLearning(i); err != nil || x.total == 0 {
						return 0, true, err
					}
				}
				n, err = x.learnSlice(i, at[i], done)
				return n, done+n >= x.total, err
			},
			end: func() error { return nil },
		})
	}
	return all
}

// startLearning begins a phase on every member.
func (x *experiment) startLearning(phase int) error {
	for i, m := range x.members {
		total, err := m.Agent.(agent.Phased).Phases()[phase].Start(x.work(m))
		if err != nil {
			return err
		}
		if i > 0 && total != x.total {
			return fmt.Errorf("member %d has %d units of work, the first one %d", i, total, x.total)
		}
		x.total = total
	}
	return nil
}

// learnSlice does the units from done on; it returns how many.
func (x *experiment) learnSlice(phase int, at knob.Phase, done int) (n int, err error) {
	defer x.meter.Measure(at, &n)()
	for i, m := range x.members {
		w := x.work(m)
		units, made, err := m.Agent.(agent.Phased).Phases()[phase].Slice(w, done)
		if err != nil {
			return 0, err
		}
		if units < 1 || i > 0 && units != n {
			return 0, fmt.Errorf("member %d did %d units of work, the first one %d", i, units, n)
		}
		n = units
		if len(made) > 0 {
			m.Sampled(w.Source.Mix)
		}
		for k := range made {
			if err := m.Learned(&made[k]); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// work is what the phases of a member's learner work with now.
func (x *experiment) work(m *replica.Replica) *agent.Work {
	return m.Work(x.at(), x.changes.Todo() == knob.ClassRefit)
}
