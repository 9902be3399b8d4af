package relevance

import "pgrlab/core/replay"

var _ = register(Spec{
	Name: "reward", Doc: "the reward of the transition", Equation: "r",
	Source: "Wang et al. 2025, section 4",
	New:    func(Deps) (Function, error) { return reward{}, nil },
})

// reward is F = r.
type reward struct{}

func (reward) Name() string { return "reward" }

func (reward) Score(dst []float32, b *replay.Batch, rows int) error {
	copy(dst[:rows], b.Reward[:rows])
	return nil
}
