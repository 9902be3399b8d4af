package sac

import (
	"pgrlab/core/agent"
)

func init() {
	one := agent.Spec{
		Name: "sac", Doc: "soft actor-critic with an ensemble of N critics, M of which form the target: SAC, REDQ",
		Source:  "Haarnoja et al. 2018; Chen et al. 2021",
		Batches: true, Synthetic: true,
		Knobs:    []string{"utd", "batch", "lr_actor", "lr_critic", "tau"},
		Describe: func(d agent.Deps) (agent.Traits, error) { return agent.Traits{Random: true}, configOf(d).Validate() },
		Memory:   memory,
		New: func(d agent.Deps) (*agent.Made, error) {
			s, err := New(configOf(d), d.Device, d.Seed)
			if err != nil {
				return nil, err
			}
			return &agent.Made{Learner: s, Batches: s, Values: s, Actions: s, Prepare: s.Prepare}, nil
		},
	}
	two := one
	two.Name, two.Doc = "max", "two agents as sac has one: an explorer, which learns F from generated rows and acts, and an exploiter, which learns the task and is evaluated"
	two.Source, two.Explores = "Shyam et al. 2019, with REDQ as its agents", true
	two.Memory = func(d agent.Deps, batch, looked int) float64 {
		if batch == 0 {
			return memory(d, batch, looked)
		}
		return memory(d, batch, looked) + memory(d, batch, 0)
	}
	two.New = func(d agent.Deps) (*agent.Made, error) {
		p, err := newPair(configOf(d), d)
		if err != nil {
			return nil, err
		}
		return &agent.Made{Learner: p, Batches: p, Values: p, Actions: p, Prepare: p.Prepare, Rolled: both{p}}, nil
	}
	agent.Register(one)
	agent.Register(two)
}

// memory is what one agent takes.
func memory(d agent.Deps, batch, looked int) float64 {
	c := configOf(d)
	if batch == 0 {
		c.Critics = 0 // it only acts
	}
	return c.Memory(batch, looked)
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	c := d.Config
	return Config{
		Obs: d.Shape.Obs, Act: d.Shape.Act, Hidden: c.Hidden, Critics: c.Critics, Subset: c.Subset, Gamma: c.Gamma,
		PolicyDelay: c.PolicyDelay, PolicyQ: c.PolicyQ, InitialAlpha: c.InitialAlpha, TargetEntropy: c.TargetEntropy,
		Exploration: c.Exploration, NoisySigma: c.NoisySigma, Candidates: c.Candidates, Weighted: d.Weighted,
	}
}
