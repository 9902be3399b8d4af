package generative

import "math"

// sampler is the stochastic Heun sampler of Karras et al. 2022 (Algorithm 2), cut
// into single evaluations of the denoiser so that it can stop between any two.
// Its state is x, hat, slope, level and correcting.
type sampler struct {
	config    Config
	sChurn    float64
	levels    []float64 // σ_0 > … > σ_{N−1} > σ_N = 0
	predictor Denoiser
	corrector Denoiser
	// noise fills dst with N(0,1) numbers that belong to this level of these
	// rows; level −1 is the start.
	noise func(dst []float32, level int)

	level      int       // next to be left
	correcting bool      // whether the next evaluation is the corrector of this level
	x          []float32 // the sample at σ_level; while correcting, its Euler step to σ_{level+1}
	hat        []float32 // x̂, the sample with churn
	slope      []float32 // d = (x̂ − D(x̂; σ̂))/σ̂
	estimate   []float32
}

func newSampler(c Config, knobs GenKnobs, size int) *sampler {
	s := &sampler{config: c, sChurn: knobs.SChurn, levels: noiseLevels(c, knobs.Steps)}
	memory := make([]float32, 4*size)
	for i, p := range []*[]float32{&s.x, &s.hat, &s.slope, &s.estimate} {
		*p = memory[i*size : (i+1)*size : (i+1)*size]
	}
	return s
}

// calls is the number of evaluations of one whole sample: two a level, one at the
// last.
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

// start draws x ~ N(0, σ_0²).
func (s *sampler) start() {
	s.level, s.correcting = 0, false
	s.noise(s.x, -1)
	sigma := float32(s.levels[0])
	for i := range s.x {
		s.x[i] *= sigma
	}
}

// advance makes one evaluation.
func (s *sampler) advance() error {
	if s.correcting {
		return s.correct()
	}
	return s.predict()
}

// raised returns σ̂ of the present level.
func (s *sampler) raised() float64 {
	sigma := s.levels[s.level]
	return sigma * (1 + churn(s.config, sigma, s.sChurn, len(s.levels)-1))
}

// predict raises the noise to σ̂ and takes an Euler step to the next level.
func (s *sampler) predict() error {
	sigma, raised, next := s.levels[s.level], s.raised(), s.levels[s.level+1]
	if raised > sigma {
		s.noise(s.hat, s.level)
		scale := float32(math.Sqrt(raised*raised-sigma*sigma) * s.config.SNoise)
		for i, x := range s.x {
			s.hat[i] = x + scale*s.hat[i]
		}
	} else {
		copy(s.hat, s.x)
	}
	if err := s.predictor.Denoise(s.estimate, s.hat, raised); err != nil {
		return err
	}
	inverse, step := float32(1/raised), float32(next-raised)
	for i, hat := range s.hat {
		d := (hat - s.estimate[i]) * inverse
		s.slope[i] = d
		s.x[i] = hat + step*d
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
	if err := s.corrector.Denoise(s.estimate, s.x, next); err != nil {
		return err
	}
	inverse, half := float32(1/next), float32((next-s.raised())/2)
	for i, x := range s.x {
		d := (x - s.estimate[i]) * inverse
		s.x[i] = s.hat[i] + half*(s.slope[i]+d)
	}
	s.level++
	s.correcting = false
	return nil
}
