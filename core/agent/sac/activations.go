package sac

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/op"
)

// Activations returns the layers of the policy for observations, at most 4,096: the hidden layers and the heads for μ and log σ, the latter
// before the clamp. The numbers stay valid until the next call.
func (s *Agent) Activations(seen agent.Looks) ([]agent.Layer, error) {
	return s.probes.Show(seen.Rows, seen.Numbers)
}

// layers are those of the policy.
func (s *Agent) layers(g *op.Graph, rows int) probe.Layers {
	act := s.config.Act
	l, heads := probe.OfMLP(g, s.nets.policy, rows)
	l.Heads = []probe.Head{{Name: "mu", Node: g.Slice(heads, 0, act)}, {Name: "log_std", Node: g.Slice(heads, act, 2*act)}}
	return l
}
