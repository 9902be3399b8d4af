package lab

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Replay is how batches of real transitions are sampled.
type Replay struct {
	// Priority is "none" or empty, all transitions alike; "td", by the size of their error
	// |mean Q(s,a) − y| when they were last trained on; or a relevance
	// function that learns in steps, by F as its paper has it at that time (Schaul et
	// al. 2016).
	Priority string  `toml:"priority"`
	Alpha    float64 `toml:"alpha"`   // exponent of priorities
	Epsilon  float64 `toml:"epsilon"` // added to each
	// Beta is the exponent of the importance weights in the first env step; it rises
	// linearly to 1 in the last.
	Beta float64 `toml:"beta"`
}

func (r Replay) validate() error {
	if !r.prioritized() {
		return nil
	}
	if r.Priority != PriorityTD && !slices.Contains(trainedModels, r.Priority) {
		return fmt.Errorf("configuration: replay.priority is %q, want %q, %q, or a function that learns in steps: %q", r.Priority, FunctionNone, PriorityTD, trainedModels)
	}
	if !(r.Beta >= 0 && r.Beta <= 1) {
		return fmt.Errorf("configuration: replay.beta is %g, want a number from 0 to 1", r.Beta)
	}
	if err := r.constants().Validate(); err != nil {
		return fmt.Errorf("configuration: replay: %w", err)
	}
	return nil
}

// prioritized says whether transitions have priorities.
func (r Replay) prioritized() bool { return r.Priority != "" && r.Priority != FunctionNone }

func (r Replay) constants() replay.PriorityConfig {
	return replay.PriorityConfig{Alpha: r.Alpha, Epsilon: r.Epsilon}
}

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
	if x.config.Replay.Priority == PriorityTD {
		learner, can := m.agent.(agent.Prioritizer)
		if !can {
			return fmt.Errorf("priorities by %q: the learner has none", PriorityTD)
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
