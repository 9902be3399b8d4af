package generative

import (
	"errors"
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
	programs   [2]*plan.Program                              // by part
	several    *several                                      // of programs; nil: they run one by one
	at         func(evaluation int, sigma float64, to place) // sets the noise level of the denoiser
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

// advance makes one evaluation, or those of several noise levels where the device can.
func (s *sampler) advance() error {
	if s.several != nil && !s.correcting && s.level%levelsTogether == 0 && s.level+levelsTogether < len(s.levels)-1 {
		return s.advanceSeveral()
	}
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
	s.chunk.items.Idle = s.raised(s.level) == s.levels[s.level]
	if err := s.evaluate(prediction); err != nil {
		return err
	}
	if s.levels[s.level+1] == 0 {
		s.level++
	} else {
		s.correcting = true
	}
	return nil
}

// correct repeats the step with the mean of the slopes at both of its ends.
func (s *sampler) correct() error {
	if err := s.evaluate(correction); err != nil {
		return err
	}
	s.level++
	s.correcting = false
	return nil
}

func (s *sampler) evaluate(p part) error {
	s.prepare(p, s.level, here)
	return s.programs[p].Run(noiseOccasion(s.generation, s.level))
}

// prepare writes the numbers of an evaluation of a level.
func (s *sampler) prepare(p part, level int, to place) {
	sigma, raised, next := s.levels[level], s.raised(level), s.levels[level+1]
	if p == prediction {
		fill(to(s.chunk.raise), float32(math.Sqrt(raised*raised-sigma*sigma)*s.config.SNoise))
		fill(to(s.chunk.stride), float32(next-raised))
		fill(to(s.chunk.inverse), float32(1/raised))
		s.at(2*level, raised, to)
		return
	}
	fill(to(s.chunk.stride), float32((next-raised)/2))
	fill(to(s.chunk.inverse), float32(1/next))
	s.at(2*level+1, next, to)
}

// advanceSeveral makes the evaluations of several levels as one.
func (s *sampler) advanceSeveral() error {
	idle := true
	for i := range levelsTogether {
		level := s.level + i
		idle = idle && s.raised(level) == s.levels[level]
		for _, p := range []part{prediction, correction} {
			run := 2*i + int(p)
			s.prepare(p, level, s.several.run(run))
			s.several.at[run] = noiseOccasion(s.generation, level)
		}
	}
	s.chunk.items.Idle = idle // noise of an idle level among others is multiplied by 0
	err := s.several.sequence.Run(s.several.at)
	if stopped, is := errors.AsType[*plan.Stopped](err); is {
		s.level, s.correcting = s.level+stopped.Program/2, stopped.Program%2 == 1
	}
	if err != nil {
		return err
	}
	s.level += levelsTogether
	return nil
}

// noiseOccasion indexes the noise of one level; level −1 is the start.
func noiseOccasion(generation uint64, level int) uint64 { return occasion(generation, level+1) }

// set fills a tensor with one number.
func set(t *op.Tensor, v float64) { fill(t.Data, float32(v)) }
