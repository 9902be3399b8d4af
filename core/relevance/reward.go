package relevance

import "pgrlab/core/replay"

// reward is F = r.
type reward struct{}

func (reward) Name() string { return "reward" }

func (reward) Score(dst []float32, b *replay.Batch, rows int) error {
	copy(dst[:rows], b.Reward[:rows])
	return nil
}
