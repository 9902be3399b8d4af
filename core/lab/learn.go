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

// learnerPhase is a phase of the run's learner. Members go in lockstep. It is due if it is for one of
// them; a member with less work than the others waits for them. An env step may have one or more, so
// it keeps what a slice needs and allocates nothing.
type learnerPhase struct {
	*experiment
	at    knob.Phase
	of    []agent.Phase // by member
	refit bool          // the env step has one, as of the slice under way
	done  int           // units before it
	units []int         // that it made, by member
	unit  func(*replica.Replica) error
}

// learnerPhases returns the phases of the run's learner.
func (x *experiment) learnerPhases() (all []phase) {
	_, at, _ := x.first().LearnerPhases() // newLab has looked at the error
	for i, p := range at {
		l := &learnerPhase{experiment: x, at: p, units: make([]int, len(x.members))}
		for _, m := range x.members {
			l.of = append(l.of, m.Agent.(agent.Phased).Phases()[i])
		}
		l.unit = func(m *replica.Replica) (err error) {
			l.units[m.Index], err = l.member(m)
			return err
		}
		all = append(all, phase{Phase: p, doing: p.String(), due: l.due, slice: l.slice, end: func() error { return nil }})
	}
	return all
}

// due says whether the phase is for one of the members.
func (l *learnerPhase) due() bool {
	l.look()
	for _, m := range l.members {
		if l.of[m.Index].Due(l.work(m)) {
			return true
		}
	}
	return false
}

// slice does some units from done on and returns how many.
func (l *learnerPhase) slice(done int) (n int, complete bool, err error) {
	l.look()
	if done == 0 {
		if err := l.start(); err != nil || l.total == 0 {
			return 0, true, err
		}
	}
	l.done = done
	begin := l.now()
	if _, err := l.cohort.each(l.at, l.unit); err != nil {
		return 0, false, err
	}
	if n = slices.Max(l.units); n < 1 {
		return 0, false, fmt.Errorf("the learners did nothing of what is left: %d of %d units", l.total-done, l.total)
	}
	l.meter.Measured(l.at, begin, n)
	return n, done+n >= l.total, nil
}

// start begins the phase on every member for which it is due.
func (l *learnerPhase) start() error {
	l.total = 0
	for _, m := range l.members {
		w, p := l.work(m), l.of[m.Index]
		if !p.Due(w) {
			continue
		}
		if w.Refit && l.at == knob.Encode {
			if err := replica.ReportDrift(m); err != nil {
				return err
			}
		}
		total, err := p.Start(w)
		if err != nil {
			return err
		}
		l.total = max(l.total, total)
	}
	return nil
}

// member does some units of a member's phase and returns how many: none if the member has done all
// of its own.
func (l *learnerPhase) member(m *replica.Replica) (int, error) {
	w := l.work(m)
	units, made, err := l.of[m.Index].Slice(w, l.done)
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
		l.sampled(m.Index, m.Mix, knob.At(l.Step, l.at, l.done-made[0].Before))
	}
	for k := range made {
		if err := m.Learned(&made[k]); err != nil {
			return 0, err
		}
	}
	return units, nil
}

// look takes what all members read of the run, because those that compute side by side may change it.
func (l *learnerPhase) look() { l.refit = l.changes.Todo() == knob.ClassRefit }

// work returns what the phase works with now.
func (l *learnerPhase) work(m *replica.Replica) *agent.Work {
	return m.Work(l.experiment.at(), l.refit)
}
