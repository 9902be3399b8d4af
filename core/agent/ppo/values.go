package ppo

import (
	"fmt"

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

// values computes log π(a|s) and V(s).
type values struct {
	program     *plan.Program
	obs, action []float32
	logp, v     []float32
}

func (x *Agent) newValues() (*values, error) {
	act, rows := x.config.Shape.Act, x.config.valueRows()
	var obs, action, logp, v *op.Node
	program, err := x.compile("value", func(g *op.Graph) plan.Spec {
		obs, action = g.Input("s", rows, x.config.input()), g.Input("a", rows, act)
		z := x.nets.latent(g, obs)
		logp, v = logProbability(g, x.nets.policy.Apply(g, z), action), x.nets.value.Apply(g, z)
		return plan.Spec{Outputs: []*op.Node{logp, v}}
	})
	if err != nil {
		return nil, err
	}
	return &values{program: program, obs: program.Data(obs), action: program.Data(action), logp: program.Data(logp), v: program.Data(v)}, nil
}

// of writes log π and V of what was observed; without actions it leaves logp unchanged.
func (e *values) of(x *Agent, seen observed, actions, logp, v []float32) error {
	rows := x.config.valueRows()
	o, a := len(e.obs)/rows, len(e.action)/rows
	for first := 0; first < len(v); first += rows {
		n := min(rows, len(v)-first)
		for i := range n {
			x.read(e.obs[i*o:(i+1)*o], seen, first+i)
		}
		if actions != nil {
			copy(e.action, actions[first*a:(first+n)*a])
		}
		if err := e.program.Run(0); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		copy(v[first:first+n], e.v)
		if actions != nil {
			copy(logp[first:first+n], e.logp)
		}
	}
	return nil
}

// judge computes values, log π, advantages and returns of a full rollout.
func (x *Agent) judge() error {
	r, e := x.rollout, x.values
	if err := e.of(x, r.rows(), r.Actions, r.logp, r.values); err != nil {
		return err
	}
	last, behind := make([]float32, r.Copies), make([]float32, len(r.limits))
	if err := e.of(x, r.behind(), nil, nil, last); err != nil {
		return err
	}
	if err := e.of(x, r.beyond(), nil, nil, behind); err != nil {
		return err
	}
	r.advantage(x.config, last, behind)
	return nil
}
