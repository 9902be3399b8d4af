package lab

import (
	"fmt"
	"slices"

	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// trainedModels are the relevance functions that make gradient steps while a run goes
// on, in the order in which they do.
var trainedModels = relevance.NamesOf(relevance.LearnsInSteps)

// learned says whether the function of that name has a model.
func learned(name string) bool {
	s, err := relevance.Find(name)
	return err == nil && s.Learning != relevance.LearnsNothing
}

// modelState are the counters of a trained model.
type modelState struct {
	Name    string
	Updates uint64
	Missed  int // updates that were due while nothing used it
}

// stateOf are the counters of a trained model.
func (m *memberState) stateOf(name string) *modelState {
	for i := range m.Models {
		if m.Models[i].Name == name {
			return &m.Models[i]
		}
	}
	m.Models = append(m.Models, modelState{Name: name})
	return &m.Models[len(m.Models)-1]
}

// built says whether the member has what the function of that name needs.
func (m *member) built(name string) bool {
	c, counts := m.models[name].(relevance.Counted)
	return !learned(name) || m.models[name] != nil && !(counts && c.Seen() == 0)
}

// usesModel says whether F, a bonus or priorities come from the model of that name.
func (x *experiment) usesModel(name string) bool {
	return x.Settings.Relevance == name || slices.Contains(x.config.FixedFunctions(), name)
}

// trainModels makes one update of each trained model in use where one is due after
// a critic update, on a fresh batch of real transitions; last says whether the critic
// update was the last of its env step.
func (x *experiment) trainModels(m *member, last bool) error {
	for _, name := range trainedModels {
		switch {
		case !x.modelDue(name, m.Updates, last):
		case x.usesModel(name) && m.real.Len() > 0:
			if err := x.updateModel(m, name); err != nil {
				return err
			}
		case x.config.Prompted():
			m.stateOf(name).Missed++
		}
	}
	return nil
}

// modelDue says whether a trained model makes an update after that many critic updates.
func (x *experiment) modelDue(name string, updates uint64, last bool) bool {
	every := x.config.Relevance.Pace(name).Every
	if every == 0 {
		return last
	}
	return updates%uint64(every) == 0
}

// updateModel makes one update of a trained model.
func (x *experiment) updateModel(m *member, name string) error {
	t, ok := m.models[name].(relevance.Trained)
	if !ok {
		return fmt.Errorf("train %s: it has no model", name)
	}
	b, s := t.Batch(), m.stateOf(name)
	if err := m.mixerOf(name).Sample(b, replay.Mix{Real: b.Size}, m.real, nil, s.Updates); err != nil {
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

// mixerOf samples the batches of a trained model, by its update: from the stream of its
// name.
func (m *member) mixerOf(name string) replay.Mixer {
	mixer, ok := m.mixers[name]
	if !ok {
		mixer = replay.NewMixer(m.streams.models.Sub(name))
		m.mixers[name] = mixer
	}
	return mixer
}

// owed is how many units of work a model has to do before the next scoring: updates
// that it missed, up to a limit, or transitions to count.
func (x *experiment) owed(m *member, name string) int {
	switch s, _ := relevance.Find(name); s.Learning {
	case relevance.LearnsInSteps:
		return min(m.stateOf(name).Missed, x.config.Relevance.Pace(name).Warmup)
	case relevance.LearnsAnew:
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
		if c, counts := m.models[name].(relevance.Counted); counts {
			n = min(scoreRows, owed-done)
			if done == 0 {
				m.real.Gather(m.scoring, 0, m.real.Spread(scoreRows))
				c.Begin(m.scoring, min(scoreRows, owed))
			}
			m.real.Gather(m.scoring, 0, m.real.Oldest(done, n))
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
