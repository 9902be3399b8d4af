package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// probe runs the policy's head and keeps everything in between.
type probe struct {
	program *plan.Program
	latents []float32
	layers  []agent.Layer // of as many rows as the program has
}

// Activations are none: the policy does not see what D_real has. See ActivationsOf.
func (x *Agent) Activations([]float32, int) ([]agent.Layer, error) { return nil, nil }

// ActivationsOf returns the layers of the policy's head for stacks of frames, at most
// agent.MaxRows: the hidden layers and the mean before its tanh. The numbers stay valid
// until the next call.
func (x *Agent) ActivationsOf(stacks [][][]byte) ([]agent.Layer, error) {
	rows, feature := len(stacks), x.config.Pixels.Feature
	if rows < 1 || rows > agent.MaxRows {
		return nil, fmt.Errorf("activations: %d stacks, want 1 to %d", rows, agent.MaxRows)
	}
	p, err := x.probe(rows)
	if err != nil {
		return nil, err
	}
	err = x.eachLook(stacks, func(l *look, first, n int) { copy(p.latents[first*feature:], l.latent[:n*feature]) })
	if err == nil {
		err = p.program.Run(0)
	}
	if err != nil {
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

func (x *Agent) probe(stacks int) (*probe, error) {
	rows := padded(stacks)
	if p, ok := x.probes[rows]; ok {
		return p, nil
	}
	var in *op.Node
	var pre, post []*op.Node
	hidden := len(x.nets.policy.Layers) - 1
	program, err := x.compile("activations", func(g *op.Graph) plan.Spec {
		in = g.Input("z", rows, x.config.Pixels.Feature)
		z := in
		for _, l := range x.nets.policy.Layers[:hidden] {
			h := l.Apply(g, z)
			z = g.ReLU(h)
			pre, post = append(pre, h), append(post, z)
		}
		pre = append(pre, x.nets.policy.Layers[hidden].Apply(g, z))
		return plan.Spec{Outputs: append(append([]*op.Node(nil), pre...), post...)}
	})
	if err != nil {
		return nil, err
	}
	p := &probe{program: program, latents: program.Data(in)}
	for i, n := range pre {
		l := agent.Layer{Name: "mu", Pre: program.Data(n), Rows: rows, Units: n.Shape()[1], Output: i == hidden}
		if i < hidden {
			l.Name, l.Post = fmt.Sprintf("hidden %d", i+1), program.Data(post[i])
		}
		p.layers = append(p.layers, l)
	}
	x.probes[rows] = p
	return p, nil
}
