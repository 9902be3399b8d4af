package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// learnerPhases returns the phases of the run's learner. Members go in lockstep, so their phases
// have equally many units.
func (x *experiment) learnerPhases() (all []phase) {
	phases, at, _ := x.first().LearnerPhases() // newLab has looked at the error
	for i, p := range phases {
		all = append(all, phase{
			Phase: at[i], doing: p.Name,
			due: func() bool { return p.Due(x.work()(x.first())) },
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
	work, totals := x.work(), make([]int, len(x.members))
	for i, m := range x.members {
		var err error
		if totals[i], err = m.Agent.(agent.Phased).Phases()[phase].Start(work(m)); err != nil {
			return err
		}
	}
	x.total = totals[0]
	return alike(totals)
}

// learnSlice does some units from done on and returns how many.
func (x *experiment) learnSlice(phase int, at knob.Phase, done int) (n int, err error) {
	defer x.meter.Measure(at, &n)()
	work, units := x.work(), make([]int, len(x.members))
	if _, err := x.cohort.each(at, func(m *replica.Replica) (err error) {
		units[m.Index], err = learnUnits(m, phase, work(m), done)
		return err
	}); err != nil {
		return 0, err
	}
	n = units[0]
	return n, alike(units)
}

// learnUnits does some units of a member's phase from done on and returns how many.
func learnUnits(m *replica.Replica, phase int, w *agent.Work, done int) (int, error) {
	units, made, err := m.Agent.(agent.Phased).Phases()[phase].Slice(w, done)
	if err != nil {
		return 0, err
	}
	if units < 1 {
		return 0, fmt.Errorf("member %d did %d units of work", m.Index, units)
	}
	if len(made) > 0 {
		m.Sampled(w.Source.Mix)
	}
	for k := range made {
		if err := m.Learned(&made[k]); err != nil {
			return 0, err
		}
	}
	return units, nil
}

// alike returns an error if a member does not have as many units of work as the first one.
func alike(units []int) error {
	for i, n := range units {
		if n != units[0] {
			return fmt.Errorf("member %d has %d units of work, the first one %d", i, n, units[0])
		}
	}
	return nil
}

// work returns what the phases of a member's learner work with now.
func (x *experiment) work() func(*replica.Replica) *agent.Work {
	now, refit := x.at(), x.changes.Todo() == knob.ClassRefit
	return func(m *replica.Replica) *agent.Work { return m.Work(now, refit) }
}
