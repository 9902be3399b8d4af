package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/op"
)

// Activations returns the layers of the policy's head for stacks of frames, at most agent.MaxRows: the
// hidden layers and the mean before its tanh. The numbers stay valid until the next call. It returns
// none for numbers: the policy does not see what D_real holds.
func (x *Agent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	if seen.Numbers != nil {
		return nil, nil
	}
	p, err := x.probes.Of(seen.Rows)
	if err != nil {
		return nil, err
	}
	feature := x.config.Pixels.Feature
	err = x.eachLook(seen.Stacks, func(l *look, first, n int) { copy(p.In[first*feature:], l.latent[:n*feature]) })
	if err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	return p.Layers(seen.Rows)
}

// layers returns those of the policy's head.
func (x *Agent) layers(g *op.Graph, rows int) probe.Layers {
	l, mean := probe.OfMLP(g, x.nets.policy, rows)
	l.Heads = []probe.Head{{Name: "mu", Node: mean}}
	return l
}
