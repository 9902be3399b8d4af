package ppo

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// probe runs the policy and keeps everything in between.
type probe struct {
	program *plan.Program
	obs     []float32
	layers  []agent.Layer // of as many rows as the program has
}

// Activations returns the policy's layers: those of the trunk, and the logits.
func (x *Agent) Activations(obs []float32, rows int) ([]agent.Layer, error) {
	if o := x.config.Shape.Obs; rows < 1 || rows > agent.MaxRows || len(obs) != rows*o {
		return nil, fmt.Errorf("activations: %d numbers for %d states of %d", len(obs), rows, o)
	}
	p, err := x.probe(rows)
	if err != nil {
		return nil, err
	}
	copy(p.obs, obs)
	if err := p.program.Run(0); err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	layers := make([]agent.Layer, len(p.layers))
	for i, l := range p.layers {
		l.Rows, l.Pre = rows, l.Pre[:rows*l.Units]
		if l.Post != nil {
			l.Post = l.Post[:rows*l.Units]
		}
		layers[i] = l
	}
	return layers, nil
}

func (x *Agent) probe(states int) (*probe, error) {
	rows := padded(states)
	if p, ok := x.probes[rows]; ok {
		return p, nil
	}
	var in *op.Node
	var pre, post []*op.Node
	program, err := x.compile("activations", func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, x.config.Shape.Obs)
		z := in
		for _, l := range x.nets.trunk {
			h := l.Apply(g, z)
			z = g.Tanh(h)
			pre, post = append(pre, h), append(post, z)
		}
		pre = append(pre, x.nets.policy.Apply(g, z))
		return plan.Spec{Outputs: append(append([]*op.Node(nil), pre...), post...)}
	})
	if err != nil {
		return nil, err
	}
	p := &probe{program: program, obs: program.Data(in)}
	for i, n := range pre {
		l := agent.Layer{Name: "logits", Pre: program.Data(n), Rows: rows, Units: n.Shape()[1], Output: i == len(post)}
		if i < len(post) {
			l.Name, l.Post = fmt.Sprintf("hidden %d", i+1), program.Data(post[i])
		}
		p.layers = append(p.layers, l)
	}
	x.probes[rows] = p
	return p, nil
}
