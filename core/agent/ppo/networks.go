package ppo

import (
	"math"
	"strconv"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// networks are the convolutions if frames are seen, the trunk, and one layer each for logits
// and value.
type networks struct {
	encoder       []nn.Conv
	trunk         []nn.Linear
	policy, value nn.Linear
}

func newNetworks(c Config, s rng.Stream) networks {
	var n networks
	in := c.numbers()
	if c.Side > 0 {
		over, flat := c.layers()
		for i, over := range over {
			n.encoder = append(n.encoder, nn.NewConv("encoder."+strconv.Itoa(i+1), over, c.Channels[i], nn.Orthogonal(math.Sqrt2), s))
		}
		in = flat
	}
	for i, width := range c.Hidden {
		n.trunk = append(n.trunk, nn.NewLinear("trunk."+strconv.Itoa(i+1), in, width, nn.Orthogonal(math.Sqrt2), s))
		in = width
	}
	n.policy = nn.NewLinear("policy", in, c.Shape.Act, nn.Orthogonal(0.01), s)
	n.value = nn.NewLinear("value", in, 1, nn.Orthogonal(1), s)
	return n
}

// latent is the trunk's output [B,H] for s [B,O], or for images [B,Side·Side·3].
func (n networks) latent(g *op.Graph, s *op.Node) *op.Node {
	s = n.encode(g, s)
	for _, l := range n.trunk {
		s = n.active(g, l.Apply(g, s))
	}
	return s
}

// encode is the convolutions' output for images; observations it returns unchanged.
func (n networks) encode(g *op.Graph, s *op.Node) *op.Node {
	for _, l := range n.encoder {
		s = g.ReLU(l.Apply(g, s))
	}
	return s
}

// active is the trunk's activation: after convolutions the same as theirs, as in
// openai/baselines, otherwise tanh.
func (n networks) active(g *op.Graph, h *op.Node) *op.Node {
	if len(n.encoder) > 0 {
		return g.ReLU(h)
	}
	return g.Tanh(h)
}

// within clamps z to the range of active: no number is below 0, or none is beyond ±1.
func (n networks) within(g *op.Graph, z *op.Node) *op.Node {
	if len(n.encoder) > 0 {
		return g.ReLU(z)
	}
	return g.Clamp(z, -1, 1)
}

// params are all parameters, in the order of a file; those of the policy come first.
func (n networks) params() []*op.Tensor { return append(n.policyParams(), n.value.Params()...) }

// policyParams are the parameters that acting needs.
func (n networks) policyParams() (all []*op.Tensor) {
	for _, l := range n.encoder {
		all = append(all, l.Params()...)
	}
	for _, l := range n.trunk {
		all = append(all, l.Params()...)
	}
	return append(all, n.policy.Params()...)
}

// logProbability is log π(a|s) [B,1] for logits [B,A] and actions [B,A], rows with a single 1.
func logProbability(g *op.Graph, logits, action *op.Node) *op.Node {
	return g.Sub(g.SumColumns(g.Mul(action, logits)), g.LogSumExp(logits))
}

// entropy is the entropy [B,1] of the choice by logits [B,A].
func entropy(g *op.Graph, logits *op.Node) *op.Node {
	return g.Sub(g.LogSumExp(logits), g.SumColumns(g.Mul(g.Softmax(logits), logits)))
}

// Operations is the number of floating-point operations that a step takes for a row: forward,
// backward for the weights and, except in the first layer, backward for the layer's input.
func (c Config) Operations() (n float64) {
	passes, in := 4.0, c.numbers() // the gradient of the observation is not needed
	add := func(products int) { n, passes = n+passes*float64(products), 6 }
	if c.Side > 0 {
		over, flat := c.layers()
		for i, g := range over {
			add(g.Places() * g.Patch() * c.Channels[i])
		}
		in = flat
	}
	for _, width := range c.Hidden {
		add(in * width)
		in = width
	}
	add(in * (c.Shape.Act + 1))
	return n
}
