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

// modelParts is the phase of updates of relevance models that are too large for one slice; the step
// has made all others. Members go in lockstep: one that has no such update, or whose update has
// ended early, waits for the others.
func (x *experiment) modelParts() phase {
	left := func() (parts int) {
		for _, m := range x.members {
			parts = max(parts, replica.PartsDue(m))
		}
		return parts
	}
	units := make([]int, len(x.members))
	part := func(m *replica.Replica) error {
		units[m.Index] = min(1, replica.PartsDue(m))
		return replica.TrainPart(m)
	}
	return phase{
		Phase: knob.Model, doing: "train models", due: func() bool { return left() > 0 },
		slice: func(done int) (n int, complete bool, err error) {
			if done == 0 {
				x.total = left()
			}
			begin := x.now()
			if _, err := x.cohort.each(knob.Model, part); err != nil {
				return 0, false, err
			}
			n = slices.Max(units)
			x.meter.Measured(knob.Model, begin, n)
			return n, left() == 0, nil
		},
		end: func() error { return nil },
	}
}

// rounds is the phase of relevance functions that learn now and then from everything met since
// their last round, for a bonus and for F alike. All members have met equally many env steps,
// but need not have equally much to learn from: a member whose round is done waits for the
// others.
func (x *experiment) rounds() phase {
	due := func() bool {
		return slices.ContainsFunc(x.members, func(m *replica.Replica) bool { return m.Rounds.Due() })
	}
	return phase{
		Phase: knob.Reach, doing: "learn what is within reach", due: due,
		slice: func(done int) (n int, complete bool, err error) {
			defer x.meter.Measure(knob.Reach, &n)()
			n = 1
			units := make([]int, len(x.members))
			if _, err := x.cohort.each(knob.Reach, func(m *replica.Replica) error {
				if !m.Rounds.Due() {
					return nil
				}
				units[m.Index] = m.Rounds.Units()
				return m.Rounds.Learn(done)
			}); err != nil {
				return 0, false, err
			}
			x.total = slices.Max(units)
			return n, !due(), nil
		},
		end: func() error { return nil },
	}
}
