package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/replay"
)

func init() {
	agent.Register(agent.Spec{
		Name: "drqv2", Doc: "DrQ-v2: a deterministic policy with twin critics, on randomly shifted frames",
		Source: "Yarats et al. 2022",
		Takes:  agent.TakesPixels, Synthetic: true, Knobs: []string{"batch", "lr_actor", "lr_critic", "tau"},
		Settings: DefaultSettings,
		Check:    check,
		Memory: func(d agent.Deps, batch, looked int) float64 {
			c := configOf(d)
			if c.Pixels.Validate() != nil {
				return 0 // check reports the error
			}
			if !d.Generates {
				return c.Memory(batch, looked)
			}
			return c.latentMemory(batch, looked)
		},
		Phases: func(d agent.Deps) []string {
			if !d.Generates {
				return []string{"learn"}
			}
			return []string{"learn", "encode"}
		},
		Rows: func(d agent.Deps) replay.Shape {
			if !d.Generates {
				return replay.Shape{}
			}
			return configOf(d).latents()
		},
		NStep: func(d agent.Deps) int { return configOf(d).NStep },
		Pace: func(d agent.Deps, start int) agent.Pace {
			return agent.Pace{From: start, Updates: 1, Every: configOf(d).UpdateEvery}
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

// check says what the learner does not support of a configuration.
func check(d agent.Deps) error {
	if c := d.Config; c.Critics != c.Subset {
		return fmt.Errorf("agent: subset is %d of %d critics: learner drqv2 has all of them in the target", c.Subset, c.Critics)
	}
	return configOf(d).Validate()
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	return Config{Settings: own, Pixels: d.Pixels, Act: d.Shape.Act, Hidden: d.Config.Hidden, Critics: d.Config.Critics, Gamma: d.Config.Gamma}
}
