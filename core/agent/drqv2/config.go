package drqv2

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// Settings are the learner's own: the table agent.drqv2.
type Settings struct {
	NStep      int     `toml:"n_step"`      // env steps of a row's return
	NoiseSteps int     `toml:"noise_steps"` // env steps over which σ goes from noiseFrom to noiseTo
	NoiseClip  float64 `toml:"-"`           // bound of the noise in both losses
	// Preactivation is the weight of u² in the policy's loss, where π(s) = tanh u: a policy that
	// is saturated everywhere has no other gradient by which to leave saturation (Andrychowicz et
	// al. 2017, appendix A; DrQ-v2 has no such term).
	Preactivation float64 `toml:"preactivation"`
	// PreactivationOfQ is such a weight as a multiple of mean |Q|, of the rows of the policy's loss: the
	// cost then has the same share in the loss whatever the task's rewards are, and while values
	// are still small.
	PreactivationOfQ float64 `toml:"preactivation_of_q"`
	UpdateEvery      int     `toml:"update_every"` // env steps per update
	Slice            int     `toml:"slice"`        // most rows of a batch for which a command has to wait; the results depend on it. Updates on a GPU are not cut
}

// DefaultSettings are those of tasks of medium difficulty
// (facebookresearch/drqv2: cfgs/config.yaml, cfgs/task/medium.yaml; NoiseClip is its stddev_clip).
var DefaultSettings = Settings{
	NStep: 3, NoiseSteps: 500_000, NoiseClip: 0.3, UpdateEvery: 2, Slice: 32,
}

// noiseFrom and noiseTo are σ at first and from env step NoiseSteps on, of actions in [-1,1] (the same).
const noiseFrom, noiseTo = 1.0, 0.1

// Validate says in one line what is wrong, or returns nil.
func (s Settings) Validate() error {
	switch {
	case s.NStep < 1 || s.NStep > 100:
		return fmt.Errorf("agent.drqv2.n_step is %d, want 1 to 100", s.NStep)
	case s.NoiseSteps < 0:
		return fmt.Errorf("agent.drqv2.noise_steps is %d, want env steps, or 0 for the last noise from the start", s.NoiseSteps)
	case !(s.Preactivation >= 0) || math.IsInf(s.Preactivation, 0):
		return fmt.Errorf("agent.drqv2.preactivation is %g, want a number from 0 on", s.Preactivation)
	case !(s.PreactivationOfQ >= 0) || math.IsInf(s.PreactivationOfQ, 0):
		return fmt.Errorf("agent.drqv2.preactivation_of_q is %g, want a number from 0 on", s.PreactivationOfQ)
	case s.UpdateEvery < 1:
		return fmt.Errorf("agent.drqv2.update_every is %d, want at least 1 env step", s.UpdateEvery)
	case s.Slice < 1:
		return fmt.Errorf("agent.drqv2.slice is %d, want at least 1 row", s.Slice)
	}
	return nil
}

// Sigma is σ(t) of the noise after t env steps.
func (s Settings) Sigma(t uint64) float64 {
	if t >= uint64(s.NoiseSteps) {
		return noiseTo
	}
	return noiseFrom + float64(t)/float64(s.NoiseSteps)*(noiseTo-noiseFrom)
}

// Config describes an agent. The settings that may change while it learns are in
// agent.Rates.
type Config struct {
	Settings
	Pixels  agent.Pixels
	Act     int   // size of actions
	Hidden  []int // widths of the hidden layers of policy and critics
	Critics int   // 2
	Gamma   float64
}

// DefaultConfig is the agent of the paper.
func DefaultConfig(act int) Config {
	return Config{Settings: DefaultSettings, Pixels: agent.DefaultPixels, Act: act, Hidden: []int{1024, 1024}, Critics: 2, Gamma: 0.99}
}

// DefaultRates are those of the paper.
var DefaultRates = agent.Rates{LRActor: 1e-4, LRCritic: 1e-4, Tau: 0.01}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	if err := c.Settings.Validate(); err != nil {
		return err
	}
	if err := c.Pixels.Validate(); err != nil {
		return err
	}
	switch {
	case c.Act < 1:
		return fmt.Errorf("agent: %d actions, want at least 1", c.Act)
	case len(c.Hidden) == 0:
		return fmt.Errorf("agent: hidden is empty, want at least one layer")
	case c.Critics < 1:
		return fmt.Errorf("agent: critics is %d, want at least 1", c.Critics)
	case !(c.Gamma >= 0 && c.Gamma < 1):
		return fmt.Errorf("agent: gamma is %g, want a number from 0 to below 1", c.Gamma)
	}
	for i, width := range c.Hidden {
		if width < 1 {
			return fmt.Errorf("agent: hidden layer %d has width %d, want at least 1", i+1, width)
		}
	}
	return nil
}

// latents is the shape of the rows that are made from frames, [z, a, R, z′, d], with T_c(h)
// and T_a(h) side by side as z.
func (c Config) latents() replay.Shape { return replay.Shape{Obs: 2 * c.Pixels.Feature, Act: c.Act} }

// bootstrap is γⁿ, the weight of the value after a row of n env steps.
func (c Config) bootstrap() float64 { return math.Pow(c.Gamma, float64(c.NStep)) }

// parts is how many parts a batch of that size is cut into, and how many rows each of them and
// the last one have: as few equal parts as possible, with at most Slice rows each. If more than
// twice as many parts were needed to make them equal, as for a prime number of rows, the last
// one is smaller.
func (c Config) parts(size int) (parts, rows, last int) {
	fewest := max(1, (size+c.Slice-1)/c.Slice)
	for parts = fewest; parts <= 2*fewest; parts++ {
		if size%parts == 0 {
			return parts, size / parts, size / parts
		}
	}
	rows = (size + fewest - 1) / fewest
	return fewest, rows, size - (fewest-1)*rows
}
