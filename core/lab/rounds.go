package lab

import (
	"slices"

	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// rounds are those of relevance functions that learn now and then from all that was met since,
// for a bonus and for F alike. All members have met equally many env steps, but need not have
// equally much to learn from: one whose round is made waits for the others.
func (x *experiment) rounds() phase {
	due := func() bool {
		return slices.ContainsFunc(x.members, func(m *replica.Replica) bool { return m.Rounds.Due() })
	}
	return phase{
		Phase: knob.Reach, doing: "learn what is within reach", due: due,
		slice: func(done int) (n int, complete bool, err error) {
			defer x.meter.Measure(knob.Reach, &n)()
			n, x.total = 1, 0
			for _, m := range x.members {
				if !m.Rounds.Due() {
					continue
				}
				x.total = max(x.total, m.Rounds.Units())
				if err := m.Rounds.Learn(done); err != nil {
					return 0, false, err
				}
			}
			return n, !due(), nil
		},
		end: func() error { return nil },
	}
}
