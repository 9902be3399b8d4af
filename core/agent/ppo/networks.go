package ppo

import (
	"math"
	"strconv"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// networks are the trunk, and a layer each for logits and value.
type networks struct {
	trunk         []nn.Linear
	policy, value nn.Linear
}

func newNetworks(c Config, s rng.Stream) networks {
	var n networks
	in := c.Shape.Obs
	for i, width := range c.Hidden {
		n.trunk = append(n.trunk, nn.NewLinear("trunk."+strconv.Itoa(i+1), in, width, nn.Orthogonal(math.Sqrt2), s))
		in = width
	}
	n.policy = nn.NewLinear("policy", in, c.Shape.Act, nn.Orthogonal(0.01), s)
	n.value = nn.NewLinear("value", in, 1, nn.Orthogonal(1), s)
	return n
}

// latent is the trunk's last layer of s [B,O], [B,H].
func (n networks) latent(g *op.Graph, s *op.Node) *op.Node {
	for _, l := range n.trunk {
		s = g.Tanh(l.Apply(g, s))
	}
	return s
}

// params are all parameters, in the order of a file; those of the policy come first.
func (n networks) params() []*op.Tensor { return append(n.policyParams(), n.value.Params()...) }

// policyParams are what acting needs.
func (n networks) policyParams() (all []*op.Tensor) {
	for _, l := range n.trunk {
		all = append(all, l.Params()...)
	}
	return append(all, n.policy.Params()...)
}

// logProbability is log π(a|s) of logits [B,A] and actions [B,A], rows with a 1; [B,1].
func logProbability(g *op.Graph, logits, action *op.Node) *op.Node {
	return g.Sub(g.SumColumns(g.Mul(action, logits)), g.LogSumExp(logits))
}

// entropy is that of the choice by logits [B,A], [B,1].
func entropy(g *op.Graph, logits *op.Node) *op.Node {
	return g.Sub(g.LogSumExp(logits), g.SumColumns(g.Mul(g.Softmax(logits), logits)))
}
