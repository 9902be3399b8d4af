package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// beta is the exponent of the importance weights in the present env step.
func (x *experiment) beta() float64 {
	first := x.config.Replay.Beta
	return first + (1-first)*float64(x.Step)/float64(x.config.Steps)
}

// sampleBatch fills a batch: mixed by r, or by priority.
func (x *experiment) sampleBatch(m *member, b *replay.Batch, mix replay.Mix) error {
	if m.priorities != nil {
		return m.priorities.Sample(b, m.real, x.beta(), m.Updates)
	}
	return m.mixer.Sample(b, mix, m.real, m.synthetic, m.Updates)
}

// prioritise gives the transitions of the batch that was just trained on their new
// priorities. Those of all others are as old as their last batch.
func (x *experiment) prioritise(m *member, b *replay.Batch) error {
	if m.priorities == nil {
		return nil
	}
	m.curious = resized(m.curious, b.Size)
	if x.config.Replay.Priority == config.PriorityTD {
		learner, can := m.agent.(agent.Prioritizer)
		if !can {
			return fmt.Errorf("priorities by %q: the learner has none", config.PriorityTD)
		}
		if err := learner.Errors(m.curious, b.Size); err != nil {
			return err
		}
	} else {
		f := m.models[x.config.Replay.Priority]
		if err := f.Score(m.curious, b, b.Size); err != nil {
			return err
		}
		scale := float32(relevance.PaperScale(f))
		for i := range m.curious {
			m.curious[i] *= scale
		}
	}
	m.priorities.Update(m.curious)
	return nil
}
