package replica

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/core/experience"
)

// Remember says whether a relevance function remembers episodes.
func (o *Rounds) Remember() bool { return o.function() != nil }

// shown returns the observation for which copy i chooses its next action: a stack's newest frame
// if the learner sees frames.
func (o *Rounds) shown(i int) experience.Look {
	r := o.of
	if r.sight == nil {
		return experience.Look{Numbers: r.World.Row(r.World.Obs, i)}
	}
	var newest [1][]byte
	r.Observed.log.Newest(i, newest[:])
	return experience.Look{Frame: newest[0]}
}

// Recall returns what the first copy's episode remembers, and how familiar the observation for
// its next action is. It must be called only if Remember is true. It changes nothing.
func (o *Rounds) Recall() (*event.Memory, error) {
	f := o.function()
	if !f.Learned() {
		return &event.Memory{P90: math.NaN(), Unknown: "nothing is remembered before the R-network's first round"}, nil
	}
	found, err := f.Recall(0, o.shown(0))
	if err != nil {
		return nil, err
	}
	m := &event.Memory{P90: found.Percentile}
	for _, e := range found.Entries {
		m.Entries = append(m.Entries, event.Remembered(e))
	}
	return m, nil
}
