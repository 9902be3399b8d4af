package sac

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

// Activations returns the layers of the policy for rows observations [rows,O],
// at most 4,096: the hidden layers and the heads for μ and log σ, the latter
// before the clamp. The numbers stay valid until the next call.
func (s *Agent) Activations(obs []float32, rows int) ([]agent.Layer, error) {
	if err := enough("activations", rows, size{"observations", len(obs), s.config.Obs}); err != nil {
		return nil, err
	}
	if rows > agent.MaxRows {
		return nil, fmt.Errorf("activations: %d rows, want at most %d", rows, agent.MaxRows)
	}
	p, err := s.probe(padded(rows))
	if err != nil {
		return nil, err
	}
	copy(p.obs, obs[:rows*s.config.Obs])
	if err := p.program.Run(0); err != nil {
		return nil, fmt.Errorf("activations: %w", err)
	}
	layers := make([]agent.Layer, len(p.layers))
	for i, l := range p.layers {
		l.Rows = rows
		l.Pre = l.Pre[:rows*l.Units]
		if l.Post != nil {
			l.Post = l.Post[:rows*l.Units]
		}
		layers[i] = l
	}
	return layers, nil
}

func (s *Agent) probe(rows int) (*probe, error) {
	if p, ok := s.probes[rows]; ok {
		return p, nil
	}
	var in *op.Node
	var pre, post []*op.Node
	policy := s.nets.policy
	hidden := len(policy.Layers) - 1
	program, err := s.compile("activations", func(g *op.Graph) plan.Spec {
		in = g.Input("s", rows, s.config.Obs)
		x := in
		for _, l := range policy.Layers[:hidden] {
			z := l.Apply(g, x)
			x = policy.Act(g, z)
			pre, post = append(pre, z), append(post, x)
		}
		heads := policy.Layers[hidden].Apply(g, x)
		pre = append(pre, g.Slice(heads, 0, s.config.Act), g.Slice(heads, s.config.Act, 2*s.config.Act))
		return plan.Spec{Outputs: append(append([]*op.Node(nil), pre...), post...)}
	})
	if err != nil {
		return nil, err
	}
	p := &probe{program: program, obs: program.Data(in)}
	for i, n := range pre {
		l := agent.Layer{Pre: program.Data(n), Rows: rows, Units: n.Shape()[1], Output: i >= hidden}
		if l.Output {
			l.Name = [...]string{"mu", "log_std"}[i-hidden]
		} else {
			l.Name, l.Post = fmt.Sprintf("hidden %d", i+1), program.Data(post[i])
		}
		p.layers = append(p.layers, l)
	}
	s.probes[rows] = p
	return p, nil
}
