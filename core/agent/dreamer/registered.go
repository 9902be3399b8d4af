package dreamer

import "pgrlab/core/agent"

func init() {
	agent.Register(agent.Spec{
		Name: "dreamer", Doc: "DreamerV3: a policy that learns in what a recurrent model of the world imagines",
		Source: "Hafner et al. 2025", Observes: true, Knobs: []string{"lr_actor", "tau", "entropy"},
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
	t.Pace, t.Trial = c.pace(), c.Settings.trial()
	return t, nil
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	return Config{Settings: own, Shape: d.Shape, Copies: d.Copies}
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
