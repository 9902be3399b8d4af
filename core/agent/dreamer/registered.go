package dreamer

import (
	"fmt"

	"pgrlab/core/agent"
)

func init() {
	agent.Register(agent.Spec{
		Name: "dreamer", Doc: "DreamerV3: a policy that learns in what a recurrent model of the world imagines",
		Source: "Hafner et al. 2025", Observes: true, Takes: agent.TakesEither, Knobs: []string{"lr_actor", "tau", "entropy"},
		Settings: DefaultSettings,
		Describe: describe,
		Memory: func(d agent.Deps, _, looked int) float64 {
			c := configOf(d)
			return c.Memory(looked) + c.kept(d.Length)
		},
		New: func(d agent.Deps) (*agent.Made, error) {
			x, err := New(configOf(d), d.Log, d.Device, d.Seed)
			if err != nil {
				return nil, err
			}
			return &agent.Made{Learner: x, Phases: x.Phases(), Prepare: x.Prepare, OpenLoop: x.OpenLoop, Unfilled: x.unfilled(d.Length)}, nil
		},
	})
}

// describe says what the learner is like.
func describe(d agent.Deps) (agent.Traits, error) {
	c := configOf(d)
	t := agent.Traits{Reads: mostSeen, Imagines: true, Phases: []string{"learn"}}
	if err := c.Settings.Validate(); err != nil {
		return t, err
	}
	switch {
	case d.Sees && d.Pixels.Stack != 1:
		return t, fmt.Errorf("pixels.stack is %d, want 1: DreamerV3 remembers what it saw", d.Pixels.Stack)
	case d.Sees && d.Pixels.Pad != 0:
		return t, fmt.Errorf("pixels.pad is %d, want 0: DreamerV3 shifts no frames", d.Pixels.Pad)
	case d.Sees && c.NoiseShare > 0:
		return t, fmt.Errorf("agent.dreamer.noise_share is %g, but the noise is added to numbers and frames are seen: want 0", c.NoiseShare)
	}
	t.Pace, t.Trial = c.pace(), c.Settings.trial()
	return t, c.validateFrames()
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	c := Config{Settings: own, Shape: d.Shape, Copies: d.Copies}
	if d.Sees {
		c.Side = d.Pixels.Side
	}
	return c
}

// unfilled returns how many bytes of latents a run of that length will have in addition to those of now.
func (x *Agent) unfilled(length int) func() (numbers, frames int64) {
	return func() (numbers, frames int64) {
		have := 0
		for _, l := range x.memory.latents {
			have += len(l.chunks) * chunkLooks
		}
		return max(0, int64(x.config.kept(length)-x.config.kept(have))), 0
	}
}
