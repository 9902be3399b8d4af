package generative

import (
	"fmt"
	"math"
	"slices"
)

// conditions turns relevance scores into conditions c = 2(F − min)/(max + 1e-5 −
// min) − 1, without clipping (renwang435/pgr: CondDistri in
// synther/diffusion/elucidated_diffusion.py).
func conditions(scores []float32, conditionRange string) ([]float32, error) {
	low, high := math.Inf(1), math.Inf(-1)
	for i, f := range scores {
		v := float64(f)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("score of transition %d is %g, want a finite number", i, v)
		}
		low, high = math.Min(low, v), math.Max(high, v)
	}
	if conditionRange == ConditionPadded {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	out := make([]float32, len(scores))
	for i, f := range scores {
		out[i] = float32(2*(float64(f)-low)/(high+slack-low) - 1)
	}
	return out, nil
}

// prompts returns the k = int(fraction·size) largest conditions, at least one, in
// rising order. Only real transitions take part, never the empty slots of the
// buffer, which would win wherever all scores are negative.
func prompts(conditions []float32, fraction float64) []float32 {
	k := max(1, int(fraction*float64(len(conditions))))
	sorted := slices.Clone(conditions)
	slices.Sort(sorted)
	return sorted[len(sorted)-k:]
}
