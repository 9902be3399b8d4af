package sac

import (
	"slices"

	"pgrlab/core/nn"
)

// Memory is roughly how many bytes an agent takes that trains on batches of batch rows and
// shows or judges looked rows at a time: never much more than it will take. It does not
// overflow.
func (c Config) Memory(batch, looked int) float64 {
	policy := nn.Parameters(slices.Concat([]int{c.Obs}, c.Hidden, []int{2 * c.Act})...)
	critic := nn.Parameters(slices.Concat([]int{c.Obs + c.Act}, c.Hidden, []int{1})...)
	if c.Exploration == ExploreNoisy {
		critic *= 2 // deviations beside the means
	}
	units := float64(c.Obs + c.Act)
	for _, width := range c.Hidden {
		units += float64(width)
	}
	n := float64(c.Critics)
	numbers := 4 * policy     // weights, gradients, Adam's two moments
	numbers += 5 * n * critic // the same, and the targets
	numbers += float64(batch) * units * (n + 1)
	numbers += float64(looked) * units
	if c.Exploration == ExploreBootstrap {
		numbers += float64(c.Candidates) * units
	}
	return 4 * numbers
}
