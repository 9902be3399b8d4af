package envs

import (
	"math"

	"pgrlab/core/formula"
)

// tolerance is dm_control's reward shape. Formulas of task files have it as well.
type tolerance = formula.Tolerance

const (
	gaussian  = formula.Gaussian
	linear    = formula.Linear
	quadratic = formula.Quadratic
)

// gentle is dm_control's reward for small controls.
var gentle = tolerance{Margin: 1, AtMargin: 0, Sigmoid: quadratic}

// gentleness is the mean of gentle over all controls.
func gentleness(controls []float64) float64 {
	sum := 0.0
	for _, c := range controls {
		sum += gentle.Of(c)
	}
	return sum / float64(len(controls))
}

// infinity is the upper bound if more is always better.
var infinity = math.Inf(1)
