package lab

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// newParts makes members of the real parts: SAC, the relevance functions and the
// diffusion model, on a device.
func newParts(c *Config, task Task, dev device.Device) (parts, error) {
	if err := c.Validate(); err != nil {
		return parts{}, err
	}
	shape := replay.Shape{Obs: task.ObsSize, Act: task.ActSize}
	learner := c.sac(shape)
	if err := learner.Validate(); err != nil {
		return parts{}, err
	}
	icm := c.icm(shape)
	if c.prompted() || c.curious() {
		for _, model := range []interface{ Validate() error }{icm, c.rnd(shape), c.count(shape)} {
			if err := model.Validate(); err != nil {
				return parts{}, err
			}
		}
	}
	diffusion := c.Generator.Config
	if c.generates() {
		if err := diffusion.Validate(); err != nil {
			return parts{}, err
		}
		if c.Generator.Kind == GeneratorVAE {
			if err := c.Generator.VAE.Validate(); err != nil {
				return parts{}, err
			}
		}
	}
	return parts{
		device:    parkerOf(dev),
		learner:   func(seed uint64) (agent.Learner, error) { return sac.New(learner, dev, seed) },
		curiosity: func(seed uint64) (curiosity, error) { return relevance.NewICM(icm, dev, seed) },
		generator: func(seed uint64) (generator, error) {
			if c.Generator.Kind == GeneratorVAE {
				return generative.NewVAE(diffusion, c.Generator.VAE, shape, dev, seed)
			}
			return generative.New(diffusion, shape, dev, seed)
		},
		model: func(name string, seed uint64) (model, error) {
			if name == relevanceRND {
				return relevance.NewRND(c.rnd(shape), dev, seed)
			}
			return relevance.NewCount(c.count(shape))
		},
		relevance: func(name string, values relevance.Values, models map[string]model) (relevance.Function, error) {
			deps := relevance.Deps{Values: values}
			deps.ICM, _ = models[relevanceCuriosity].(*relevance.ICM)
			deps.RND, _ = models[relevanceRND].(*relevance.RND)
			deps.Count, _ = models[relevanceCount].(*relevance.Count)
			return relevance.New(name, deps)
		},
	}, nil
}

// sac is the agent's configuration.
func (c *Config) sac(shape replay.Shape) sac.Config {
	a := c.Agent
	return sac.Config{
		Obs: shape.Obs, Act: shape.Act, Hidden: a.Hidden, Critics: a.Critics, Subset: a.Subset, Gamma: a.Gamma,
		PolicyDelay: a.PolicyDelay, TargetEntropy: a.TargetEntropy, InitialAlpha: a.InitialAlpha,
		Exploration: a.Exploration, NoisySigma: a.NoisySigma, Candidates: a.Candidates, Weighted: c.Replay.prioritized(),
	}
}

// icm is the curiosity model's configuration.
func (c *Config) icm(shape replay.Shape) relevance.ICMConfig {
	icm := c.Curiosity.ICMConfig
	icm.Obs, icm.Act = shape.Obs, shape.Act
	return icm
}

// rnd is the configuration of random network distillation.
func (c *Config) rnd(shape replay.Shape) relevance.RNDConfig {
	rnd := c.RND.RNDConfig
	rnd.Obs, rnd.Act = shape.Obs, shape.Act
	return rnd
}

// count is the configuration of pseudo-counts.
func (c *Config) count(shape replay.Shape) relevance.CountConfig {
	count := c.Count.CountConfig
	count.Obs, count.Act = shape.Obs, shape.Act
	return count
}
