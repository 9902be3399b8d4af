package ppo

import (
	"fmt"

	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// valueRows is the number of rows for which one call computes log π and V: for frames, as many
// as have activations that fit a cache.
func (c Config) valueRows() int {
	if c.Side > 0 {
		return 32
	}
	return 512
}

func (x *Agent) newValues(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("value", rows, x.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		obs, action := g.Input("s", rows, x.config.input()), g.Input("a", rows, x.config.Shape.Act)
		z := x.nets.latent(g, obs)
		spec.Outputs = []*op.Node{logProbability(g, x.nets.policy.Apply(g, z), action), x.nets.value.Apply(g, z)}
		return []*op.Node{obs, action}, spec
	})
}

// value writes log π and V of what was observed; without actions it leaves logp unchanged.
func (x *Agent) value(seen func(i int) experience.Look, actions func(i int) []float32, logp, v []float32) error {
	b, err := x.values.Of(x.config.valueRows())
	if err != nil {
		return err
	}
	o, a := x.config.input(), x.config.Shape.Act
	err = b.Each(0, len(v), func(first, n int) {
		for i := range n {
			x.read(b.In[0][i*o:(i+1)*o], seen(first+i))
			if actions != nil {
				copy(b.In[1][i*a:], actions(first+i))
			}
		}
	}, logp, v)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// judge computes values, log π, advantages and returns of a full rollout.
func (x *Agent) judge() error {
	r, c := x.rollout, x.config
	seen, action := func(i int) experience.Look { return r.Row(i).Seen }, func(i int) []float32 { return r.Row(i).Action }
	if err := x.value(seen, action, r.logp, r.values); err != nil {
		return err
	}
	last := make([]float32, c.Copies)
	after := func(i int) experience.Look { return r.Row(r.Rows() - c.Copies + i).Next }
	if err := x.value(after, nil, nil, last); err != nil {
		return err
	}
	r.advantage(c, last)
	return nil
}
