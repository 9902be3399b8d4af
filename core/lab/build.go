package lab

import (
	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// newParts makes members of the real parts: SAC, the relevance functions and the
// diffusion model, on a device.
func newParts(c *Config, task Task, dev device.Device) (parts, error) {
	shape := replay.Shape{Obs: task.ObsSize, Act: task.ActSize}
	sac := c.sac(shape)
	if err := sac.Validate(); err != nil {
		return parts{}, err
	}
	icm := c.icm(shape)
	if c.prompted() {
		if err := icm.Validate(); err != nil {
			return parts{}, err
		}
	}
	diffusion := c.Generator.Config
	if c.generates() {
		if err := diffusion.Validate(); err != nil {
			return parts{}, err
		}
	}
	return parts{
		learner:   func(seed uint64) (learner, error) { return agent.New(sac, dev, seed) },
		curiosity: func(seed uint64) (curiosity, error) { return relevance.NewICM(icm, dev, seed) },
		generator: func(seed uint64) (generator, error) { return generative.New(diffusion, shape, dev, seed) },
		relevance: func(name string, values relevance.Values, model curiosity) (relevance.Function, error) {
			deps := relevance.Deps{Values: values}
			if model != nil {
				deps.ICM = model.(*relevance.ICM)
			}
			return relevance.New(name, deps)
		},
	}, nil
}

// sac is the agent's configuration.
func (c *Config) sac(shape replay.Shape) agent.Config {
	a := c.Agent
	return agent.Config{
		Obs: shape.Obs, Act: shape.Act, Hidden: a.Hidden, Critics: a.Critics, Subset: a.Subset, Gamma: a.Gamma,
		PolicyDelay: a.PolicyDelay, TargetEntropy: a.TargetEntropy, InitialAlpha: a.InitialAlpha,
	}
}

// icm is the curiosity model's configuration.
func (c *Config) icm(shape replay.Shape) relevance.ICMConfig {
	icm := c.Curiosity.ICMConfig
	icm.Obs, icm.Act = shape.Obs, shape.Act
	return icm
}
