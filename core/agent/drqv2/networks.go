package drqv2

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// networks are E, π, Q and Q̄. Images are in NHWC order, so that the rows of a trunk's weights
// are in the order (y, x, channel); in PyTorch their order is (channel, y, x).
type networks struct {
	flat                  int // numbers that E outputs for an image
	encoder               []nn.Conv
	actor, critic, target trunk
	policy                nn.MLP // [B,F] → [B,A]
	q, qTarget            nn.MLP // N members, [B,F+A] → [N,B,1]
}

// trunk is T: a layer, its norm and tanh.
type trunk struct {
	layer nn.Linear
	norm  nn.LayerNorm
}

func newNetworks(c Config, s rng.Stream) networks {
	layers, flat := c.Pixels.Layers()
	n := networks{flat: flat}
	for i, over := range layers {
		n.encoder = append(n.encoder, nn.NewConv(fmt.Sprintf("encoder.%d", i+1), over, c.Pixels.Channels, nn.Orthogonal(math.Sqrt2), s))
	}
	feature := c.Pixels.Feature
	n.actor, n.critic, n.target = newTrunk("actor trunk", flat, feature, s), newTrunk("critic trunk", flat, feature, s), newTrunk("target trunk", flat, feature, s)
	n.policy = nn.NewMLP("policy", slices.Concat([]int{feature}, c.Hidden, []int{c.Act}), nn.Orthogonal(1), nn.ReLU, s)
	sizes := slices.Concat([]int{feature + c.Act}, c.Hidden, []int{1})
	n.q, n.qTarget = nn.NewEnsembleMLP("critics", c.Critics, sizes, nn.Orthogonal(1), nn.ReLU, s), nn.NewEnsembleMLP("target", c.Critics, sizes, nn.Orthogonal(1), nn.ReLU, s)
	nn.Copy(n.targetParams(), n.valueParams())
	return n
}

// normEps is the ε of PyTorch's nn.LayerNorm.
const normEps = 1e-5

func newTrunk(name string, flat, feature int, s rng.Stream) trunk {
	return trunk{nn.NewLinear(name, flat, feature, nn.Orthogonal(1), s), nn.NewLayerNorm(name+".norm", normEps, feature)}
}

func (t trunk) apply(g *op.Graph, h *op.Node) *op.Node {
	return g.Tanh(t.norm.Apply(g, t.layer.Apply(g, h)))
}

func (t trunk) params() []*op.Tensor { return append(t.layer.Params(), t.norm.Params()...) }

// encode is E of images [B,size], [B,flat].
func (n networks) encode(g *op.Graph, images *op.Node) *op.Node {
	for _, l := range n.encoder {
		images = g.ReLU(l.Apply(g, images))
	}
	return images
}

// mean is π of T_a(h) [B,F], [B,A].
func (n networks) mean(g *op.Graph, latent *op.Node) *op.Node {
	return g.Tanh(n.preactivation(g, latent))
}

// preactivation is u of π = tanh u.
func (n networks) preactivation(g *op.Graph, latent *op.Node) *op.Node {
	return n.policy.Apply(g, latent)
}

// values are Qₖ of T_c(h) [B,F] and actions, [N,B,1].
func (n networks) values(g *op.Graph, latent, action *op.Node) *op.Node {
	return n.q.Apply(g, g.Concat(latent, action))
}

// targets are Q̄ₖ of T̄_c(h) [B,F], or of z_c for generated rows, and actions, [N,B,1].
func (n networks) targets(g *op.Graph, latent, action *op.Node) *op.Node {
	return n.qTarget.Apply(g, g.Concat(latent, action))
}

// largest is the bound of an action, so that it stays within (-1,1)
// (facebookresearch/drqv2: utils.py, TruncatedNormal).
const largest = 1 - 1e-6

// bounded clamps actions to ±largest and lets the gradient pass unclamped.
func bounded(g *op.Graph, action *op.Node) *op.Node {
	clamped := g.StopGradient(g.Clamp(action, -largest, largest))
	return g.Add(g.Sub(action, g.StopGradient(action)), clamped)
}

func (n networks) encoderParams() (all []*op.Tensor) {
	for _, l := range n.encoder {
		all = append(all, l.Params()...)
	}
	return all
}

// headParams are the parameters of the critics after their trunk, and policyHead those of the
// policy: the ones that learn from latents.
func (n networks) headParams() []*op.Tensor { return n.q.Params() }
func (n networks) policyHead() []*op.Tensor { return n.policy.Params() }

// valueParams are the parameters that targetParams follow, in the same order.
func (n networks) valueParams() []*op.Tensor { return append(n.critic.params(), n.q.Params()...) }
func (n networks) targetParams() []*op.Tensor {
	return append(n.target.params(), n.qTarget.Params()...)
}

// actorParams are the parameters that the policy's step moves.
func (n networks) actorParams() []*op.Tensor { return append(n.actor.params(), n.policy.Params()...) }

// policyParams are the parameters that acting needs.
func (n networks) policyParams() []*op.Tensor { return append(n.encoderParams(), n.actorParams()...) }

// state are all parameters, in the order of a file.
func (n networks) state() []*op.Tensor {
	return slices.Concat(n.policyParams(), n.valueParams(), n.targetParams())
}
