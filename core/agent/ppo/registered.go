package ppo

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
)

func init() {
	agent.Register(agent.Spec{
		Name: "ppo", Doc: "PPO: a policy that chooses among actions and learns from each rollout a few times",
		Source:   "Schulman et al. 2017",
		Observes: true, Discrete: true, Synthetic: true, Takes: agent.TakesEither, Knobs: []string{"lr_actor", "entropy", "tv"},
		Settings: DefaultSettings,
		Describe: describe,
		Memory: func(d agent.Deps, _, looked int) float64 {
			if !d.Generates {
				return configOf(d).Memory(looked)
			}
			return configOf(d).latentMemory(looked)
		},
		New: func(d agent.Deps) (*agent.Made, error) {
			if d.Generates {
				l, err := NewLatent(configOf(d), d.Log, d.Device, d.Seed)
				if err != nil {
					return nil, err
				}
				return &agent.Made{Learner: l, Encoder: l, Phases: l.Phases(), Prepare: l.Prepare, Chances: l.Chances, Remark: l.Remark, Unfilled: l.Unfilled}, nil
			}
			x, err := New(configOf(d), d.Log, d.Device, d.Seed)
			if err != nil {
				return nil, err
			}
			return &agent.Made{Learner: x, Phases: x.Phases(), Prepare: x.Prepare, Chances: x.Chances, Remark: x.Remark}, nil
		},
	})
}

// describe says what the learner is like.
func describe(d agent.Deps) (agent.Traits, error) {
	c := configOf(d)
	t := agent.Traits{
		Reads: c.Steps, MostSynthetic: MostSynthetic, Phases: []string{"learn"}, Trial: c.Settings.trial(),
		Pace: agent.Pace{Updates: c.Epochs * c.Minibatches, Every: c.Steps}, // it learns from its first rollout on
	}
	if c.Anneal != 0 {
		t.Follows = "rate and ε of PPO (agent.ppo.anneal)"
	}
	if d.Generates {
		t.Rows, t.Phases = c.latents(), append(t.Phases, "encode")
		t.Reads, t.Makes = c.Window*c.Steps, c.Window*c.rows()
	}
	return t, check(d)
}

// check says in one line what the learner does not support.
func check(d agent.Deps) error {
	switch {
	case d.Sees && d.Pixels.Stack != 1:
		return fmt.Errorf("pixels.stack is %d, want 1: the policy of PPO sees one frame", d.Pixels.Stack)
	case d.Sees && d.Pixels.Pad != 0:
		return fmt.Errorf("pixels.pad is %d, want 0: PPO shifts no frames", d.Pixels.Pad)
	}
	c := configOf(d)
	if d.Generates && c.AlignRows <= c.latents().Obs {
		h := c.latents().Obs
		return fmt.Errorf("agent.hidden ends in %d: latents of so many numbers cannot be aligned by %d rows of D_real: want at most %d", h, c.AlignRows, c.AlignRows-1)
	}
	return c.Validate()
}

// configOf returns the Config that a configuration describes.
func configOf(d agent.Deps) Config {
	own, _ := d.Settings.(Settings)
	c := Config{Settings: own, Shape: d.Shape, Copies: d.Copies, Hidden: d.Config.Hidden, Gamma: d.Config.Gamma, Length: d.Length, Bonus: d.Bonus}
	if d.Sees {
		c.Side = d.Pixels.Side
	}
	return c
}

// Memory is roughly how many bytes an agent takes that shows the layers of looked observations at
// a time: never much more than it will take. It does not overflow.
func (c Config) Memory(looked int) float64 {
	o, a := float64(c.input()), float64(c.Shape.Act)
	units, widths := a+1, slices.Concat([]int{c.numbers()}, c.Hidden)
	parameters := 0.0
	if c.Side > 0 && c.validateFrames() == nil {
		made, weights, flat := c.convolved()
		units, parameters, widths[0] = units+made, weights, flat
	}
	for _, width := range c.Hidden {
		units += float64(width)
	}
	last := c.Hidden[len(c.Hidden)-1]
	numbers := 5 * (parameters + nn.Parameters(widths...) + nn.Parameters(last, c.Shape.Act) + nn.Parameters(last, 1))
	rows := float64(c.Steps) * float64(c.Copies)
	numbers += rows * (float64(c.numbers()) + a + 12)
	numbers += rows / float64(c.Minibatches) * (o + a + 24 + 4*units)
	numbers += (float64(c.valueRows()) + 2*float64(agent.Padded(max(1, looked)))) * (o + a + 2*units)
	return 4 * numbers
}

// convolved returns how many numbers the convolutions output for a frame, how many weights they
// have, and how many of those numbers are the last one's.
func (c Config) convolved() (made, weights float64, flat int) {
	over, flat := c.layers()
	for i, g := range over {
		made += float64(g.Places()) * float64(c.Channels[i])
		weights += float64(g.Patch()+1) * float64(c.Channels[i])
	}
	return made, weights, flat
}

// latentMemory is Memory for an agent beside a generator. It adds the transitions that D_real was
// made from and those that it will be made from, or, if frames are seen, those that the learner
// keeps longer than the run does; the program that makes D_real; the rows to align by; and two
// programs of steps with synthetic rows, each with as many of them as at the ratio 1/2.
func (c Config) latentMemory(looked int) float64 {
	o, a, h := float64(c.input()), float64(c.Shape.Act), float64(c.latents().Obs)
	rows, seen := float64(c.Steps)*float64(c.Copies), float64(c.numbers())+float64(c.frame())/4
	units := h
	for _, width := range c.Hidden {
		units += float64(width)
	}
	if c.Side > 0 && c.validateFrames() == nil {
		made, _, _ := c.convolved()
		units += made
	}
	kept := float64(c.KeepRewarded)
	numbers := float64(c.Window) * rows
	if c.Side == 0 {
		kept, numbers = kept+2*numbers, 0
	}
	numbers += kept * (2*seen + a + 3)
	if c.Side > 0 && c.Bonus {
		numbers += float64(c.Window) * rows
	}
	numbers += float64(c.valueRows()) * (o + 2*units)
	numbers += float64(c.AlignRows)*(seen+3*h) + 8*h*h
	numbers += (keptLearnings - 1) * rows / float64(c.Minibatches) * (o + 3*a + 4*h + 48 + 4*units)
	return c.Memory(looked) + 4*numbers
}
