package replica

import (
	"math"

	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
)

// locate writes where the copies are to dst [K,2], which it returns; nil if the environment does
// not say.
func (o *Rounds) locate(dst []float32) []float32 {
	r := o.of
	if _, says := r.envs[0].env.(task.Placed); !says {
		return nil
	}
	dst = resized(dst, 2*len(r.envs))
	for i := range r.envs {
		o.locateOne(dst, i)
	}
	return dst
}

// locateOne writes where copy i is to places, which are those of all copies, if there are any.
func (o *Rounds) locateOne(places []float32, i int) {
	if placed, says := o.of.envs[i].env.(task.Placed); says && places != nil {
		x, y := placed.Place()
		places[2*i], places[2*i+1] = float32(x), float32(y)
	}
}

// Remember says whether a relevance function remembers episodes.
func (o *Rounds) Remember() bool { return o.function() != nil }

// shown returns the observation for which copy i chooses its next action: a stack's newest frame
// if the learner sees frames.
func (o *Rounds) shown(i int) relevance.Observation {
	r := o.of
	if r.sight == nil {
		return relevance.Observation{Numbers: r.row(r.Obs, i)}
	}
	var newest [1][]byte
	r.Observed.log.Newest(i, newest[:])
	return relevance.Observation{Frame: newest[0]}
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
