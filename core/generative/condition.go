package generative

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// ScoresProgram is the Program of a *plan.NotFinite that says that a score of a fit is not finite.
const ScoresProgram = "scores"

// conditions maps relevance scores to conditions c = 2(F − min)/(max + slack −
// min) − 1, without clipping (renwang435/pgr: CondDistri in
// synther/diffusion/elucidated_diffusion.py; see span for the slack).
func conditions(scores []float32, conditionRange string) ([]float32, error) {
	low, high, err := extremes(scores, conditionRange)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(scores))
	for i, f := range scores {
		out[i] = float32(2*(float64(f)-low)/span(low, high, conditionRange) - 1)
	}
	return out, nil
}

// span is the range of scores that maps to conditions from −1 to 1, with the slack that keeps it
// above zero: the 1e-5 of the released code. Beside a range of 1e-5 that leaves no condition above 0,
// so ConditionScaled has that share of the range, and at least two units in the last place of the
// scores, so that the rounding errors of a constant F do not become conditions.
func span(low, high float64, conditionRange string) float64 {
	if conditionRange != ConditionScaled {
		return high + slack - low
	}
	const resolution, least = 0x1p-22, 1e-40
	return high - low + max(slack*(high-low), resolution*max(-low, high), least)
}

// extremes returns the scores that map to −1 and, apart from the slack, to 1.
func extremes(scores []float32, conditionRange string) (low, high float64, err error) {
	low, high = math.Inf(1), math.Inf(-1)
	for i, f := range scores {
		v := float64(f)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, 0, &plan.NotFinite{Program: ScoresProgram, Step: -1, Op: "input", Tensor: fmt.Sprintf("F of transition %d", i), Value: v}
		}
		low, high = math.Min(low, v), math.Max(high, v)
	}
	if conditionRange == ConditionPadded {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	return low, high, nil
}

// score returns the relevance whose condition is c.
func (s *serving) score(c float32, conditionRange string) float32 {
	return float32((float64(c)+1)/2*span(s.low, s.high, conditionRange) + s.low)
}

// prompt returns the condition that prompts sample i of a generation. The random
// numbers belong to the sample, not to a chunk.
func prompt(from []float32, s rng.Stream, generation uint64, i int) float32 {
	return from[s.At(occasion(generation, i)).IntN(len(from))]
}

// asked returns the scores that the first n samples of a generation are prompted with;
// nil if the fit had no scores.
func (s *serving) asked(c Config, k GenKnobs, stream rng.Stream, generation uint64, n int) []float32 {
	if s == nil || s.conditions == nil {
		return nil
	}
	from, out := prompts(s.conditions, k.TopFraction), make([]float32, n)
	for i := range out {
		out[i] = s.score(prompt(from, stream, generation, i), c.ConditionRange)
	}
	return out
}

// prompts returns the k = int(fraction·size) largest conditions, at least one, in
// rising order. Only real transitions take part: the empty slots of the buffer would
// come first if all scores were negative.
func prompts(conditions []float32, fraction float64) []float32 {
	k := max(1, int(fraction*float64(len(conditions))))
	sorted := slices.Clone(conditions)
	slices.Sort(sorted)
	return sorted[len(sorted)-k:]
}
