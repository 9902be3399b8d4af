package lab

import (
	"fmt"

	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// model is a relevance function that learns from real transitions. A run builds it
// when the function is chosen for the first time, and keeps it.
type model interface {
	stateful
	relevance.Function
	Close() error
}

// trained is a model that makes gradient steps; relevance.ICM and relevance.RND are.
type trained interface {
	model
	// Batch is the memory that Train reads.
	Batch() *replay.Batch
	Train() (loss float64, err error)
}

// counting is a model that is made anew from all real transitions before each
// scoring; relevance.Count is.
type counting interface {
	model
	// Begin forgets everything; the sample says where transitions are.
	Begin(sample *replay.Batch, rows int)
	Observe(b *replay.Batch, rows int)
	// Seen is how many transitions it was made from.
	Seen() uint64
}

// The relevance functions that the lab knows by name; all but none have a model. See
// package relevance.
const (
	relevanceNone      = "none"
	relevanceCuriosity = "curiosity"
	relevanceRND       = "rnd"
	relevanceCount     = "count"
)

// trainedModels are those that make gradient steps while a run goes on, in the order
// in which they do.
var trainedModels = []string{relevanceCuriosity, relevanceRND}

// learned says whether the function of that name has a model.
func learned(name string) bool {
	return name == relevanceCuriosity || name == relevanceRND || name == relevanceCount
}

// modelState are the counters of a trained model.
type modelState struct {
	Updates uint64
	Missed  int // updates that were due while nothing used it
}

// stateOf are the counters of a trained model.
func (m *member) stateOf(name string) *modelState {
	if name == relevanceRND {
		return &m.RND
	}
	return &m.Curiosity
}

// cadence is how often a trained model makes an update, in critic updates (0: once
// per env step), and how many it makes up for at most.
func (c *Config) cadence(name string) (every, warmup int) {
	if name == relevanceRND {
		return c.RND.Every, c.RND.Warmup
	}
	return c.Curiosity.Every, c.Curiosity.Warmup
}

// built says whether the member has what the function of that name needs.
func (m *member) built(name string) bool {
	c, counts := m.models[name].(counting)
	return !learned(name) || m.models[name] != nil && !(counts && c.Seen() == 0)
}

// usesModel says whether F, a bonus or priorities come from the model of that name.
func (x *experiment) usesModel(name string) bool {
	return x.Settings.Relevance == name || name == relevanceCuriosity && x.config.curious()
}

// trainModels makes one update of each trained model in use where one is due after
// a critic update, on a fresh batch of real transitions; last says whether the critic
// update was the last of its env step.
func (x *experiment) trainModels(m *member, last bool) error {
	for _, name := range trainedModels {
		switch {
		case !x.modelDue(name, m.Updates, last):
		case x.usesModel(name):
			if err := x.updateModel(m, name); err != nil {
				return err
			}
		case x.config.prompted():
			m.stateOf(name).Missed++
		}
	}
	return nil
}

// modelDue says whether a trained model makes an update after that many critic updates.
func (x *experiment) modelDue(name string, updates uint64, last bool) bool {
	every, _ := x.config.cadence(name)
	if every == 0 {
		return last
	}
	return updates%uint64(every) == 0
}

// updateModel makes one update of a trained model.
func (x *experiment) updateModel(m *member, name string) error {
	t, ok := m.models[name].(trained)
	if !ok {
		return fmt.Errorf("train %s: it has no model", name)
	}
	b, s := t.Batch(), m.stateOf(name)
	if err := m.mixerOf(name).Draw(b, replay.Mix{Real: b.Size}, m.real, nil, s.Updates); err != nil {
		return err
	}
	loss, err := t.Train()
	s.Updates++
	if err != nil {
		return x.diverged(m, "train "+name, err)
	}
	m.Losses.addModel(name, loss)
	return nil
}

// mixerOf draws the batches of a trained model.
func (m *member) mixerOf(name string) replay.Mixer {
	if name == relevanceRND {
		return replay.NewMixer(m.streams.rnd)
	}
	return m.mixerOfModel
}

// owed is how many units of work a model has to do before the next scoring: updates
// that it missed, up to a limit, or transitions to count.
func (x *experiment) owed(m *member, name string) int {
	switch name {
	case relevanceCuriosity, relevanceRND:
		_, warmup := x.config.cadence(name)
		return min(m.stateOf(name).Missed, warmup)
	case relevanceCount:
		return m.real.Len()
	}
	return 0
}

// modelUpdates is a slice of a trained model's warm-up.
const modelUpdates = 4

// warm does owed units from done on; it returns how many.
func (x *experiment) warm(done, owed int) (n int, err error) {
	name := x.Settings.Relevance
	for _, m := range x.members {
		if c, counts := m.models[name].(counting); counts {
			n = min(scoreRows, owed-done)
			if done == 0 {
				m.real.Gather(m.scoring, 0, spread(m.real, scoreRows))
				c.Begin(m.scoring, min(scoreRows, owed))
			}
			m.real.Gather(m.scoring, 0, oldest(m.real, done, n))
			c.Observe(m.scoring, n)
			continue
		}
		n = min(modelUpdates, owed-done)
		for range n {
			if err := x.updateModel(m, name); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// spread are up to n slots at even distances.
func spread(r *replay.Ring, n int) []int {
	slots := make([]int, min(n, r.Len()))
	for i := range slots {
		slots[i] = i * r.Len() / len(slots)
	}
	return slots
}

// oldest are the slots of n transitions in the order in which they came, from the
// first-th on.
func oldest(r *replay.Ring, first, n int) []int {
	slots := make([]int, n)
	for i := range slots {
		slots[i] = r.Newest(r.Len() - 1 - first - i)
	}
	return slots
}
