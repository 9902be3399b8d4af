package lab

import (
	"slices"

	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

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
