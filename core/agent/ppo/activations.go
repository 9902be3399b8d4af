package ppo

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/op"
)

// Activations returns the policy's layers: those of the trunk, and the logits. If frames are seen, each
// stack has one, and there are none for numbers.
func (x *Agent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	if x.config.Side == 0 {
		return x.probes.Show(seen.Rows, seen.Numbers)
	}
	if seen.Numbers != nil {
		return nil, nil
	}
	p, err := x.probes.Of(seen.Rows)
	if err != nil {
		return nil, err
	}
	if err := x.show(p.In, seen.Stacks); err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	return p.Layers(seen.Rows)
}

// layers returns those of the policy.
func (x *Agent) layers(g *op.Graph, rows int) probe.Layers {
	l := probe.Layers{In: g.Input("s", rows, x.config.input())}
	z := l.Through(g, x.nets.encode(g, l.In), x.nets.trunk, x.nets.active)
	l.Heads = []probe.Head{{Name: "logits", Node: x.nets.policy.Apply(g, z)}}
	return l
}

// layers returns the trunk's last one and the logits after it.
func (l *Latent) layers(g *op.Graph, rows int) probe.Layers {
	in := g.Input("z", rows, l.config.latents().Obs)
	z := g.Scale(in, 1) // the trunk's last layer is given: this node stands in for its computation
	return probe.Layers{In: in, Pre: []*op.Node{z}, Post: []*op.Node{z}, Heads: []probe.Head{{Name: "logits", Node: l.nets.policy.Apply(g, z)}}}
}

// Activations returns the policy's layers for latents: the latents themselves, and the logits. If
// frames are seen, it returns those for frames.
func (l *Latent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	if l.config.Side > 0 {
		return l.Agent.Activations(seen)
	}
	return l.probes.Show(seen.Rows, seen.Numbers)
}
