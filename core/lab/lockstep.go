package lab

import (
	"fmt"
	"slices"

	"pgrlab/core/replica"
)

// lockstep is a phase of the members' own, which they go through together. It is due if it is due for
// one of them; a member with less work than the others waits for them. An env step may have one or
// more, so it keeps what a slice needs and allocates nothing.
type lockstep struct {
	*experiment
	of    []replica.Phase // by member
	run   replica.Now     // as of the slice under way: members that compute side by side may change the run
	done  int             // units before it
	units []int           // that it made, by member
	ended []bool          // which members have ended early
	unit  func(*replica.Replica) error
}

// ownPhases returns the phases of the members' own.
func (x *experiment) ownPhases() (all []phase) {
	for i, p := range x.first().Phases() {
		l := &lockstep{experiment: x, units: make([]int, len(x.members)), ended: make([]bool, len(x.members))}
		for _, m := range x.members {
			l.of = append(l.of, m.Phases()[i])
		}
		l.unit = func(m *replica.Replica) (err error) {
			l.units[m.Index], l.ended[m.Index], err = l.of[m.Index].Slice(l.run, l.done)
			return err
		}
		end := func() error {
			if p.Once {
				x.meter.Once(p.At)
			}
			return nil
		}
		all = append(all, phase{Phase: p.At, doing: p.Doing, due: l.due, slice: l.slice, end: end})
	}
	return all
}

// due says whether the phase is due for one of the members.
func (l *lockstep) due() bool {
	l.run = l.at()
	return slices.ContainsFunc(l.of, func(p replica.Phase) bool { return p.Due(l.run) })
}

// slice does some units from done on and returns how many.
func (l *lockstep) slice(done int) (n int, complete bool, err error) {
	l.run, l.done = l.at(), done
	if done == 0 {
		if err := l.startAll(); err != nil || l.total == 0 {
			return 0, true, err
		}
	}
	phase, begin := l.of[0].At, l.now()
	if _, err := l.cohort.each(phase, l.unit); err != nil {
		return 0, false, err
	}
	if n = slices.Max(l.units); n < 1 {
		return 0, false, fmt.Errorf("nothing was done of what is left: %d of %d units", l.total-done, l.total)
	}
	l.meter.Measured(phase, begin, n)
	return n, done+n >= l.total || !slices.Contains(l.ended, false), nil
}

// startAll begins the phase on every member for which it is due.
func (l *lockstep) startAll() error {
	l.total = 0
	for _, p := range l.of {
		if !p.Due(l.run) {
			continue
		}
		total, err := p.Start(l.run)
		if err != nil {
			return err
		}
		l.total = max(l.total, total)
	}
	return nil
}
