// Package probe runs the layers of a policy and keeps all intermediate results, for learners to
// show (agent.Learner, Activations).
package probe

import (
	"errors"
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

// Probes are the probes of one policy, by number of rows. Each is compiled when it is first
// needed.
type Probes struct {
	dev    device.Device
	build  func(g *op.Graph, rows int) Layers
	byRows map[int]*Probe
}

// New returns the probes of the policy that build builds.
func New(dev device.Device, build func(g *op.Graph, rows int) Layers) *Probes {
	return &Probes{dev, build, map[int]*Probe{}}
}

// Probe is a policy for a number of rows.
type Probe struct {
	In      []float32 // the policy's input, of which Run reads the first rows
	program *plan.Program
	layers  []agent.Layer // with as many rows as the program has
}

// Of returns a probe for that many rows, 1 to agent.MaxRows.
func (all *Probes) Of(rows int) (*Probe, error) {
	if rows < 1 || rows > agent.MaxRows {
		return nil, fmt.Errorf("activations: %d rows, want 1 to %d", rows, agent.MaxRows)
	}
	rows = agent.Padded(rows)
	if p, ok := all.byRows[rows]; ok {
		return p, nil
	}
	p, err := all.compile(rows)
	if err == nil {
		all.byRows[rows] = p
	}
	return p, err
}

func (all *Probes) compile(rows int) (*Probe, error) {
	var of Layers
	program, err := plan.Build("activations", all.dev, func(g *op.Graph) plan.Spec {
		of = all.build(g, rows)
		nodes := append([]*op.Node(nil), of.Pre...)
		for _, h := range of.Heads {
			nodes = append(nodes, h.Node)
		}
		return plan.Spec{Outputs: append(nodes, of.Post...)}
	})
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	p := &Probe{In: program.Data(of.In), program: program}
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

// Run returns the layers of the first rows of In. The numbers stay valid until the next call.
func (p *Probe) Run(rows int) ([]agent.Layer, error) {
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

// Close frees the compiled programs.
func (all *Probes) Close() error {
	var errs []error
	for _, p := range all.byRows {
		errs = append(errs, p.program.Close())
	}
	return errors.Join(errs...)
}
