package analysis

import (
	"slices"

	"pgrlab/core/replay"
)

// Reference holds what the errors of generated transitions are measured against: how
// widely the real transitions are spread, and which of their rewards are rare.
type Reference struct {
	Next   []float64 // variance of each dimension of s'
	Change []float64 // variance of each dimension of s' − s
	Reward float64   // variance of r

	MeanChange []float64 // the best constant guess of s' − s
	MeanReward float64   // the best constant guess of r

	// Rare is the reward above which a reward is rare: half way between the ninth decile
	// of the real rewards and the mean of the rewards above it. In a sparse task it
	// separates the 1 from a 0 that a generator blurs; in a dense task it is about the
	// 95th percentile. It is NaN if no reward is above the ninth decile.
	Rare float64
}

// NewReference computes the reference of n real rows [s, a, r, s', d].
func NewReference(shape replay.Shape, n int, row func(i int) []float32) Reference {
	o, reward := shape.Obs, shape.Obs+shape.Act
	change, rewards := make([]float32, o), make([]float32, n)
	changes := Spread(n, o, func(i int) []float32 {
		r := row(i)
		for k := range change {
			change[k] = r[reward+1+k] - r[k]
		}
		return change
	})
	ofReward := Spread(n, 1, func(i int) []float32 { return row(i)[reward:] })
	ref := Reference{
		Next:   Spread(n, o, func(i int) []float32 { return row(i)[reward+1:] }).Variance,
		Change: changes.Variance, MeanChange: changes.Mean,
		Reward: ofReward.Variance[0], MeanReward: ofReward.Mean[0],
	}
	for i := range n {
		rewards[i] = row(i)[reward]
	}
	ref.Rare = rareAbove(rewards)
	return ref
}

// rareAbove returns Reference.Rare of the rewards, which it sorts.
func rareAbove(rewards []float32) float64 {
	slices.Sort(rewards)
	decile := quantile(rewards, 0.9)
	sum, n := 0.0, 0
	for _, r := range rewards {
		if float64(r) > decile {
			sum, n = sum+float64(r), n+1
		}
	}
	return (decile + sum/float64(n)) / 2 // NaN if none is above
}
