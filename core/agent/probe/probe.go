// Package probe runs the layers of a policy and keeps all intermediate results, for learners to
// show (agent.Learner, Activations).
package probe

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Layers are the nodes of a policy: its input In [R,·], each hidden layer's output before (Pre)
// and after (Post) the activation, and the named heads.
type Layers struct {
	In        *op.Node
	Pre, Post []*op.Node
	Heads     []Head
}

// OfMLP returns the layers of a network for rows of inputs, without heads, and the network's output.
func OfMLP(g *op.Graph, net nn.MLP, rows int) (l Layers, out *op.Node) {
	hidden := len(net.Layers) - 1
	l.In = g.Input("s", rows, net.Layers[0].W.Shape[0])
	x := l.Through(g, l.In, net.Layers[:hidden], net.Act)
	return l, net.Layers[hidden].Apply(g, x)
}

// Through adds hidden layers, the first of which reads x, and returns the last one's output after the
// activation.
func (l *Layers) Through(g *op.Graph, x *op.Node, layers []nn.Linear, act nn.Activation) *op.Node {
	for _, layer := range layers {
		z := layer.Apply(g, x)
		x = act(g, z)
		l.Pre, l.Post = append(l.Pre, z), append(l.Post, x)
	}
	return x
}

// Head is an output of the policy.
type Head struct {
	Name string
	Node *op.Node
}

// Probes are the probes of one policy, by number of rows.
type Probes struct{ plan.ByRows[*Probe] }

// New returns the probes of the policy that build builds.
func New(dev device.Device, build func(g *op.Graph, rows int) Layers) *Probes {
	return &Probes{plan.ByRows[*Probe]{Compile: func(rows int) (*Probe, error) { return compile(dev, build, rows) }}}
}

// Probe is a policy for a number of rows.
type Probe struct {
	*plan.Program
	In     []float32     // the policy's input, of which Layers reads the first rows
	layers []agent.Layer // with as many rows as the program has
}

// Of returns a probe for that many rows, 1 to agent.MaxRows.
func (all *Probes) Of(rows int) (*Probe, error) {
	if rows < 1 || rows > agent.MaxRows {
		return nil, fmt.Errorf("activations: %d rows, want 1 to %d", rows, agent.MaxRows)
	}
	return all.ByRows.Of(agent.Padded(rows))
}

// Prepare compiles the probe that these uses need.
func (all *Probes) Prepare(u agent.Uses) error {
	if u.Probed == 0 {
		return nil
	}
	_, err := all.Of(min(u.Probed, agent.MaxRows))
	return err
}

// Show returns the layers for rows of numbers. They stay valid until the next call.
func (all *Probes) Show(rows int, numbers []float32) ([]agent.Layer, error) {
	p, err := all.Of(rows)
	if err != nil {
		return nil, err
	}
	if want := len(p.In) / agent.Padded(rows) * rows; len(numbers) != want {
		return nil, fmt.Errorf("activations: %d numbers for %d rows, want %d", len(numbers), rows, want)
	}
	copy(p.In, numbers)
	return p.Layers(rows)
}

func compile(dev device.Device, build func(g *op.Graph, rows int) Layers, rows int) (*Probe, error) {
	var of Layers
	program, err := plan.Build("activations", dev, func(g *op.Graph) plan.Spec {
		of = build(g, rows)
		nodes := append([]*op.Node(nil), of.Pre...)
		for _, h := range of.Heads {
			nodes = append(nodes, h.Node)
		}
		return plan.Spec{Outputs: append(nodes, of.Post...)}
	})
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	p := &Probe{Program: program, In: program.Data(of.In)}
	for i, n := range of.Pre {
		p.layers = append(p.layers, agent.Layer{
			Name: fmt.Sprintf("hidden %d", i+1), Pre: program.Data(n), Post: program.Data(of.Post[i]), Rows: rows, Units: n.Shape()[1],
		})
	}
	for _, h := range of.Heads {
		p.layers = append(p.layers, agent.Layer{Name: h.Name, Pre: program.Data(h.Node), Rows: rows, Units: h.Node.Shape()[1], Output: true})
	}
	return p, nil
}

// Layers returns the layers of the first rows of In. The numbers stay valid until the next call.
func (p *Probe) Layers(rows int) ([]agent.Layer, error) {
	if err := p.Run(0); err != nil {
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
