package ppo

import (
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
)

func init() {
	agent.Register(agent.Spec{
		Name: "ppo", Doc: "PPO: a policy that chooses among actions, from rollouts that it learns from a few times",
		Source:   "Schulman et al. 2017",
		Discrete: true, Knobs: []string{"lr_actor"},
		Settings: DefaultSettings,
		Check:    func(d agent.Deps) error { return configOf(d).Validate() },
		Follows: func(d agent.Deps) string {
			if configOf(d).Anneal == 0 {
				return ""
			}
			return "rate and ε of PPO (agent.ppo.anneal)"
		},
		Memory: func(d agent.Deps, _, looked int) float64 { return configOf(d).Memory(looked) },
		New:    func(d agent.Deps) (agent.Learner, error) { return New(configOf(d), d.Device, d.Seed) },
	})
}

// configOf is the agent that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	return Config{Settings: own, Shape: d.Shape, Copies: d.Copies, Hidden: d.Config.Hidden, Gamma: d.Config.Gamma, Length: d.Length}
}

// Memory is about how many bytes an agent takes that looks at so many observations at a time:
// never much more than it will. It does not overflow.
func (c Config) Memory(looked int) float64 {
	o, a := float64(c.Shape.Obs), float64(c.Shape.Act)
	units, widths := a+1, slices.Concat([]int{c.Shape.Obs}, c.Hidden)
	for _, width := range c.Hidden {
		units += float64(width)
	}
	last := c.Hidden[len(c.Hidden)-1]
	numbers := 5 * (nn.Parameters(widths...) + nn.Parameters(last, c.Shape.Act) + nn.Parameters(last, 1))
	rows := float64(c.Steps) * float64(c.Copies)
	numbers += rows * (o + a + 6)
	numbers += rows / float64(c.Minibatches) * (o + a + 24 + 4*units)
	numbers += (valueRows + 2*float64(agent.Padded(max(1, looked)))) * (o + a + 2*units)
	return 4 * numbers
}
