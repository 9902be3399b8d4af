package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
)

func init() {
	agent.Register(agent.Spec{
		Name: "drqv2", Doc: "DrQ-v2: a deterministic policy with twin critics, on randomly shifted frames",
		Source: "Yarats et al. 2022",
		Takes:  agent.TakesPixels, Synthetic: true, Knobs: []string{"batch", "lr_actor", "lr_critic", "tau"},
		Settings: DefaultSettings,
		Describe: describe,
		Memory: func(d agent.Deps, batch, looked int) float64 {
			c := configOf(d)
			if c.Pixels.Validate() != nil {
				return 0 // describe reports the error
			}
			if !d.Generates {
				return c.Memory(batch, looked)
			}
			return c.latentMemory(batch, looked)
		},
		New: func(d agent.Deps) (*agent.Made, error) {
			if d.Generates {
				l, err := NewLatent(configOf(d), d.Device, d.Seed)
				if err != nil {
					return nil, err
				}
				return &agent.Made{Learner: l, Values: l, Encoder: l, Phases: l.Phases(), Prepare: l.Prepare, Crops: l.Crops, Remark: l.Remark}, nil
			}
			x, err := New(configOf(d), d.Device, d.Seed)
			if err != nil {
				return nil, err
			}
			return &agent.Made{Learner: x, Phases: x.Phases(), Prepare: x.Prepare, Crops: x.Crops, Remark: x.Remark}, nil
		},
	})
}

// describe says what the learner is like.
func describe(d agent.Deps) (agent.Traits, error) {
	c := configOf(d)
	t := agent.Traits{Random: true, NStep: c.NStep, Pace: agent.Pace{From: d.Start, Updates: 1, Every: c.UpdateEvery}, Phases: []string{"learn"}}
	if d.Generates {
		t.Rows, t.Phases = c.latents(), append(t.Phases, "encode")
	}
	if own := d.Config; own.Critics != own.Subset {
		return t, fmt.Errorf("agent: subset is %d of %d critics: learner drqv2 has all of them in the target", own.Subset, own.Critics)
	}
	return t, c.Validate()
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	return Config{Settings: own, Pixels: d.Pixels, Act: d.Shape.Act, Hidden: d.Config.Hidden, Critics: d.Config.Critics, Gamma: d.Config.Gamma}
}
