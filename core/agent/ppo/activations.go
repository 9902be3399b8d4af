package ppo

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/op"
)

// Activations returns the policy's layers: those of the trunk, and the logits. It returns none
// if frames are seen: see ActivationsOf.
func (x *Agent) Activations(obs []float32, rows int) ([]agent.Layer, error) {
	if x.config.Side > 0 {
		return nil, nil
	}
	p, err := x.probes.Of(rows)
	if err != nil {
		return nil, err
	}
	if o := x.config.Shape.Obs; len(obs) != rows*o {
		return nil, fmt.Errorf("activations: %d numbers for %d states of %d", len(obs), rows, o)
	}
	copy(p.In, obs)
	return p.Layers(rows)
}

// layers returns those of the policy.
func (x *Agent) layers(g *op.Graph, rows int) probe.Layers {
	l := probe.Layers{In: g.Input("s", rows, x.config.input())}
	z := x.nets.encode(g, l.In)
	for _, t := range x.nets.trunk {
		h := t.Apply(g, z)
		z = x.nets.active(g, h)
		l.Pre, l.Post = append(l.Pre, h), append(l.Post, z)
	}
	l.Heads = []probe.Head{{Name: "logits", Node: x.nets.policy.Apply(g, z)}}
	return l
}

// layers returns the trunk's last one and the logits after it.
func (l *Latent) layers(g *op.Graph, rows int) probe.Layers {
	in := g.Input("z", rows, l.config.latents().Obs)
	z := g.Scale(in, 1) // the trunk's last layer is given: this node stands in for its computation
	return probe.Layers{In: in, Pre: []*op.Node{z}, Post: []*op.Node{z}, Heads: []probe.Head{{Name: "logits", Node: l.nets.policy.Apply(g, z)}}}
}

// Activations returns the policy's layers for latents: the latents themselves, and the logits.
// It returns none if frames are seen: see ActivationsOf.
func (l *Latent) Activations(z []float32, rows int) ([]agent.Layer, error) {
	if l.config.Side > 0 {
		return nil, nil
	}
	p, err := l.probes.Of(rows)
	if err != nil {
		return nil, err
	}
	if h := l.config.latents().Obs; len(z) != rows*h {
		return nil, fmt.Errorf("activations: %d numbers for %d latents of %d", len(z), rows, h)
	}
	copy(p.In, z)
	return p.Layers(rows)
}
