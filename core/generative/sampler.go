package generative

import (
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// sampler is the stochastic Heun sampler of Karras et al. 2022 (Algorithm 2), cut
// into single evaluations of the denoiser so that it can stop between any two of them.
// Each evaluation is one run of a program that does the rest of the step as well. The
// state of the sampler is x, hat and slope of the chunk, level and correcting.
type sampler struct {
	config     Config
	sChurn     float64
	levels     []float64 // σ_0 > … > σ_{N−1} > σ_N = 0
	chunk      *chunk
	programs   [2]*plan.Program                    // by part
	at         func(evaluation int, sigma float64) // sets the noise level of the denoiser
	noise      rng.Stream
	generation uint64 // indexes the noise

	level      int  // index of the present noise level
	correcting bool // whether the next evaluation is the corrector of this level
}

func newSampler(c Config, knobs GenKnobs, memory *chunk) *sampler {
	return &sampler{config: c, sChurn: knobs.SChurn, levels: noiseLevels(c, knobs.Steps), chunk: memory}
}

// calls is the number of evaluations of one whole sample: two for each level, one for
// the last.
func (s *sampler) calls() int { return 2*(len(s.levels)-1) - 1 }

// made is the number of evaluations of this sample so far.
func (s *sampler) made() int {
	n := 2 * s.level
	if s.correcting {
		n++
	}
	return min(n, s.calls())
}

// done says whether x is the finished sample.
func (s *sampler) done() bool { return s.level == len(s.levels)-1 }

// start samples x ~ N(0, σ_0²).
func (s *sampler) start() {
	s.level, s.correcting = 0, false
	x, sigma := s.chunk.x.Data, float32(s.levels[0])
	s.noise.FillNormal(x, noiseOccasion(s.generation, -1), s.chunk.items.First)
	for i := range x {
		x[i] *= sigma
	}
}

// advance makes one evaluation.
func (s *sampler) advance() error {
	if s.correcting {
		return s.correct()
	}
	return s.predict()
}

// sigmas returns the noise levels of all evaluations of a sample, in order.
func (s *sampler) sigmas() []float64 {
	all := make([]float64, s.calls())
	for i := range all {
		if all[i] = s.levels[i/2+i%2]; i%2 == 0 {
			all[i] = s.raised(i / 2)
		}
	}
	return all
}

// raised returns σ̂ of a level.
func (s *sampler) raised(level int) float64 {
	sigma := s.levels[level]
	return sigma * (1 + churn(s.config, sigma, s.sChurn, len(s.levels)-1))
}

// predict raises the noise to σ̂ and takes an Euler step to the next level.
func (s *sampler) predict() error {
	sigma, raised, next := s.levels[s.level], s.raised(s.level), s.levels[s.level+1]
	s.chunk.items.Idle = raised == sigma
	set(s.chunk.raise, math.Sqrt(raised*raised-sigma*sigma)*s.config.SNoise)
	set(s.chunk.stride, next-raised)
	if err := s.evaluate(prediction, raised); err != nil {
		return err
	}
	if next == 0 {
		s.level++
	} else {
		s.correcting = true
	}
	return nil
}

// correct repeats the step with the mean of the slopes at both of its ends.
func (s *sampler) correct() error {
	next := s.levels[s.level+1]
	set(s.chunk.stride, (next-s.raised(s.level))/2)
	if err := s.evaluate(correction, next); err != nil {
		return err
	}
	s.level++
	s.correcting = false
	return nil
}

func (s *sampler) evaluate(p part, sigma float64) error {
	set(s.chunk.inverse, 1/sigma)
	s.at(s.made(), sigma)
	return s.programs[p].Run(noiseOccasion(s.generation, s.level))
}

// noiseOccasion indexes the noise of one level; level −1 is the start.
func noiseOccasion(generation uint64, level int) uint64 { return occasion(generation, level+1) }

// set fills a tensor with one number.
func set(t *op.Tensor, v float64) { fill(t.Data, float32(v)) }
