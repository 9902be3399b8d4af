package lab

import (
	"slices"

	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

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
