package ppo

import (
	"fmt"
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

// Settings are the learner's own: the table agent.ppo.
type Settings struct {
	Steps       int     `toml:"steps"`        // env steps of a rollout, in each copy of the environment
	Epochs      int     `toml:"epochs"`       // times that a rollout is learned from
	Minibatches int     `toml:"minibatches"`  // parts of an epoch, with a step on each
	Lambda      float64 `toml:"lambda"`       // λ of generalised advantages
	Clip        float64 `toml:"clip"`         // ε at first
	ValueClip   float64 `toml:"value_clip"`   // how far, in ε, a value moves before moving on no longer lowers its error; 0: no limit
	ValueWeight float64 `toml:"-"`            // w, weight of the value's loss
	MaxNorm     float64 `toml:"-"`            // bound of the gradient's norm; 0: none
	Anneal      float64 `toml:"anneal"`       // multiple of the run's length after which rate and ε have fallen to 0; 0: they stay
	RewardScale float64 `toml:"reward_scale"` // factor of the rewards that are learned from
	// The convolutions before the trunk if frames are seen: window side, stride and channels
	// of each.
	Kernels  []int `toml:"-"`
	Strides  []int `toml:"-"`
	Channels []int `toml:"-"`

	// Beside a generator:
	Window       int `toml:"-"` // iterations whose rows make up D_real
	KeepRewarded int `toml:"-"` // rows with a reward that stay in D_real after their iteration has left it, in place of the oldest without one
	AlignRows    int `toml:"-"` // rows of D_real by which generated latents are aligned with the present trunk before each epoch
}

// DefaultSettings are those of google-research/episodic-curiosity for PPO without a bonus
// (third_party/baselines/ppo2, scripts/launcher_script.py), with ppo2's vf_coef and max_grad_norm and the
// convolutions of nature_cnn (policies.py). What is for runs with a generator is our choice: the newest
// Window iterations, whose policies are near the present one; KeepRewarded, because at first eight
// iterations in mazes reach two to four goals; and AlignRows, because within one iteration the trunk moves
// latents by as much as they vary.
var DefaultSettings = Settings{
	Steps: 256, Epochs: 4, Minibatches: 4, Lambda: 0.95, Clip: 0.1, ValueClip: 1, ValueWeight: 0.5, MaxNorm: 0.5,
	RewardScale: 1,
	Kernels:     []int{8, 4, 3}, Strides: []int{4, 2, 1}, Channels: []int{32, 64, 64},
	Window: 8, KeepRewarded: 512, AlignRows: 1024,
}

// Validate says in one line what is wrong, or returns nil.
func (s Settings) Validate() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	switch {
	case s.Steps < 1 || s.Steps > 1<<20:
		return fmt.Errorf("agent.ppo.steps is %d, want 1 to %d env steps", s.Steps, 1<<20)
	case s.Epochs < 1 || s.Epochs > 1000:
		return fmt.Errorf("agent.ppo.epochs is %d, want 1 to 1000", s.Epochs)
	case s.Minibatches < 1:
		return fmt.Errorf("agent.ppo.minibatches is %d, want at least 1", s.Minibatches)
	case !(s.Lambda >= 0 && s.Lambda <= 1):
		return fmt.Errorf("agent.ppo.lambda is %g, want a number from 0 to 1", s.Lambda)
	case !(s.Clip > 0 && s.Clip < 1):
		return fmt.Errorf("agent.ppo.clip is %g, want a number above 0 and below 1", s.Clip)
	case s.ValueClip != 0 && !positive(s.ValueClip):
		return fmt.Errorf("agent.ppo.value_clip is %g, want a number above 0, or 0 for none", s.ValueClip)
	case s.Anneal != 0 && !positive(s.Anneal):
		return fmt.Errorf("agent.ppo.anneal is %g, want how often the run's length, or 0 for rates that stay", s.Anneal)
	case !positive(s.RewardScale):
		return fmt.Errorf("agent.ppo.reward_scale is %g, want a number above 0", s.RewardScale)
	}
	return nil
}

// trial returns settings whose rollouts are a minibatch long, if their env steps can be divided so.
// Each row is then learned from as often, in steps of as many rows.
func (s Settings) trial() Settings {
	parts := max(1, divisor(s.Steps, s.Minibatches))
	s.Steps, s.Minibatches = s.Steps/parts, s.Minibatches/parts
	s.AlignRows = max(1, s.AlignRows/parts) // once in an epoch, of which there are more
	return s
}

// divisor is the greatest common divisor of a and b.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Config describes an agent.
type Config struct {
	Settings
	Shape  replay.Shape // observations, and actions to choose from
	Side   int          // of the frames that are seen instead of observations; 0: no frames are seen
	Copies int          // of the environment
	Hidden []int        // widths of the trunk
	Gamma  float64
	Length int  // of the run, env steps
	Bonus  bool // the observed rewards include a bonus
}

// left is the share of rate and ε that is left in an iteration whose last env step is step: 1 in
// the first iteration.
func (c Config) left(step int) float64 {
	if c.Anneal == 0 {
		return 1
	}
	return max(0, 1-float64(max(0, step-c.Steps))/(c.Anneal*float64(c.Length)))
}

// DefaultConfig describes an agent that acts in that many copies of an environment.
func DefaultConfig(shape replay.Shape, copies int) Config {
	return Config{Settings: DefaultSettings, Shape: shape, Copies: copies, Hidden: []int{128, 64}, Gamma: 0.99}
}

// DefaultRates are those of google-research/episodic-curiosity for PPO without a bonus.
var DefaultRates = agent.Rates{LRActor: 1.93e-4, Entropy: 1.094e-3}

// rows is how many rows a rollout has, and part how many of them a step learns from.
func (c Config) rows() int { return c.Steps * c.Copies }
func (c Config) part() int { return c.rows() / c.Minibatches }

// latents is the shape of the rows of D_real and D_syn: z is the trunk's last layer.
func (c Config) latents() replay.Shape {
	if len(c.Hidden) == 0 {
		return replay.Shape{} // which Validate refuses
	}
	return replay.Shape{Obs: c.Hidden[len(c.Hidden)-1], Act: c.Shape.Act}
}

// Validate says in one line what is wrong with c, or returns nil.
func (c Config) Validate() error {
	if err := c.Settings.Validate(); err != nil {
		return err
	}
	switch {
	case c.Shape.Act < 2:
		return fmt.Errorf("agent: %d actions to choose from, want at least 2", c.Shape.Act)
	case c.Copies < 1:
		return fmt.Errorf("agent: %d copies of the environment, want at least 1", c.Copies)
	case c.rows()%c.Minibatches != 0:
		return fmt.Errorf("agent.ppo.minibatches is %d: a rollout of %d env steps in %d copies is no whole number of rows for each", c.Minibatches, c.Steps, c.Copies)
	case len(c.Hidden) == 0:
		return fmt.Errorf("agent: hidden is empty, want at least one layer")
	case c.Length < 1 && c.Anneal != 0:
		return fmt.Errorf("agent.ppo.anneal is %g of a run of no length", c.Anneal)
	case !(c.Gamma >= 0 && c.Gamma < 1):
		return fmt.Errorf("agent: gamma is %g, want a number from 0 to below 1", c.Gamma)
	}
	if err := c.validateFrames(); err != nil {
		return err
	}
	for i, width := range c.Hidden {
		if width < 1 {
			return fmt.Errorf("agent: hidden layer %d has width %d, want at least 1", i+1, width)
		}
	}
	return c.Shape.Validate()
}
