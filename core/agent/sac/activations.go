package sac

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/op"
)

// Activations returns the layers of the policy for observations, at most 4,096: the hidden layers and the heads for μ and log σ, the latter
// before the clamp. The numbers stay valid until the next call.
func (s *Agent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	if err := enough("activations", seen.Rows, size{"observations", len(seen.Numbers), s.config.Obs}); err != nil {
		return nil, err
	}
	p, err := s.probes.Of(seen.Rows)
	if err != nil {
		return nil, err
	}
	copy(p.In, seen.Numbers[:seen.Rows*s.config.Obs])
	return p.Layers(seen.Rows)
}

// layers are those of the policy.
func (s *Agent) layers(g *op.Graph, rows int) probe.Layers {
	policy, act := s.nets.policy, s.config.Act
	l := probe.Layers{In: g.Input("s", rows, s.config.Obs)}
	x, hidden := l.In, len(policy.Layers)-1
	for _, layer := range policy.Layers[:hidden] {
		z := layer.Apply(g, x)
		x = policy.Act(g, z)
		l.Pre, l.Post = append(l.Pre, z), append(l.Post, x)
	}
	heads := policy.Layers[hidden].Apply(g, x)
	l.Heads = []probe.Head{{Name: "mu", Node: g.Slice(heads, 0, act)}, {Name: "log_std", Node: g.Slice(heads, act, 2*act)}}
	return l
}
