// Package probe runs the layers of a policy and keeps all intermediate results, for learners to
// show (agent.Learner, Activations).
package probe

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
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
