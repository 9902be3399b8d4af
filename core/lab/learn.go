package lab

import (
	"cmp"
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// learnerPhases returns the phases of the run's learner. Members go in lockstep. A phase is due if
// it is for one of them; a member with less work than the others waits for them.
func (x *experiment) learnerPhases() (all []phase) {
	phases, at, _ := x.first().LearnerPhases() // newLab has looked at the error
	for i, p := range phases {
		all = append(all, phase{
			Phase: at[i], doing: p.Name,
			due: func() bool {
				work := x.work()
				return slices.ContainsFunc(x.members, func(m *replica.Replica) bool { return p.Due(work(m)) })
			},
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

// startLearning begins a phase on every member for which it is due.
func (x *experiment) startLearning(phase int) error {
	work := x.work()
	x.total = 0
	for _, m := range x.members {
		w, p := work(m), m.Agent.(agent.Phased).Phases()[phase]
		if !p.Due(w) {
			continue
		}
		if w.Refit && p.Name == knob.Encode.String() {
			if err := replica.ReportDrift(m); err != nil {
				return err
			}
		}
		total, err := p.Start(w)
		if err != nil {
			return err
		}
		x.total = max(x.total, total)
	}
	return nil
}

// learnSlice does some units from done on and returns how many.
func (x *experiment) learnSlice(phase int, at knob.Phase, done int) (n int, err error) {
	defer x.meter.Measure(at, &n)()
	work, units := x.work(), make([]int, len(x.members))
	if _, err := x.cohort.each(at, func(m *replica.Replica) (err error) {
		units[m.Index], err = x.learnUnits(m, phase, at, work(m), done)
		return err
	}); err != nil {
		return 0, err
	}
	if n = slices.Max(units); n < 1 {
		return 0, fmt.Errorf("the learners did nothing of what is left: %d of %d units", x.total-done, x.total)
	}
	return n, nil
}

// learnUnits does some units of a member's phase from done on and returns how many: none if the
// member has done all of its own.
func (x *experiment) learnUnits(m *replica.Replica, phase int, at knob.Phase, w *agent.Work, done int) (int, error) {
	units, made, err := m.Agent.(agent.Phased).Phases()[phase].Slice(w, done)
	if err != nil {
		return 0, err
	}
	if r, tells := m.Agent.(agent.Remarker); tells {
		if text := r.Remark(); text != "" {
			m.Host.Emit(event.TypeDevice, m.Index, event.Device{Text: text})
		}
	}
	if len(made) > 0 {
		m.Mix = cmp.Or(made[0].Mix, w.Source.Mix)
		x.sampled(m.Index, m.Mix, knob.At(x.Step, at, done-made[0].Before))
	}
	for k := range made {
		if err := m.Learned(&made[k]); err != nil {
			return 0, err
		}
	}
	return units, nil
}

// work returns what the phases of a member's learner work with now.
func (x *experiment) work() func(*replica.Replica) *agent.Work {
	now, refit := x.at(), x.changes.Todo() == knob.ClassRefit
	return func(m *replica.Replica) *agent.Work { return m.Work(now, refit) }
}
