package dreamer

import (
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// layer is a linear layer, an RMS norm and SiLU.
type layer struct {
	linear nn.Linear
	norm   nn.RMSNorm
}

// normal samples weights with the deviation that a normal distribution, cut off at twice its deviation, needs
// for a variance of 1/fan-in (embodied/jax/nets.py, trunc_normal).
var normal = scaled(1)

func scaled(by float64) nn.Init { return nn.TruncatedNormal(1.1368 * by) }

func newLayer(name string, in, out int, s rng.Stream) layer {
	return layer{nn.NewLinear(name, in, out, normal, s), nn.NewRMSNorm(name, epsilon, out)}
}

// newBlocks returns a layer of that many blocks, each from in numbers to out. The fan-in counts those of all
// blocks (embodied/jax/nets.py, compute_fans).
func newBlocks(name string, blocks, in, out int, s rng.Stream) nn.Linear {
	l := nn.Linear{W: op.NewTensor(name+".w", blocks, in, out), B: op.NewTensor(name+".b", blocks, out)}
	normal(l.W.Data, l.B.Data, blocks*in, blocks*out, s.Sub(name))
	return l
}

func (l layer) apply(g *op.Graph, x *op.Node) *op.Node {
	return g.SiLU(l.norm.Apply(g, l.linear.Apply(g, x)))
}

func (l layer) params() []*op.Tensor { return append(l.linear.Params(), l.norm.Gamma) }

// stack is a chain of layers.
type stack []layer

func newStack(name string, in, width, count int, s rng.Stream) (all stack) {
	for i := range count {
		all = append(all, newLayer(fmt.Sprintf("%s.%d", name, i), in, width, s))
		in = width
	}
	return all
}

func (all stack) apply(g *op.Graph, x *op.Node) *op.Node {
	for _, l := range all {
		x = l.apply(g, x)
	}
	return x
}

func (all stack) params() (p []*op.Tensor) {
	for _, l := range all {
		p = append(p, l.params()...)
	}
	return p
}

// head is a chain of layers with an output.
type head struct {
	stack
	out nn.Linear
}

func newHead(name string, in, width, count, out int, scale float64, s rng.Stream) head {
	return head{newStack(name, in, width, count, s), nn.NewLinear(name+".out", width, out, scaled(scale), s)}
}

func (h head) apply(g *op.Graph, x *op.Node) *op.Node { return h.out.Apply(g, h.stack.apply(g, x)) }
func (h head) params() []*op.Tensor                   { return append(h.stack.params(), h.out.Params()...) }

// networks are the parts of an agent (dreamerv3/rssm.py, dreamerv3/agent.py).
type networks struct {
	config Config
	bins   *op.Tensor // [Bins], of rewards and values

	encoder              stack   // of observations
	vision               *vision // of frames; nil if observations are seen
	ofDeter, ofStoch     layer   // what enters the recurrent layers
	ofAction             layer
	hidden               nn.Linear // of blocks [d/b+3h → d/b]
	hiddenNorm           nn.RMSNorm
	gates                nn.Linear // of blocks [d/b → 3d/b]
	prior, posterior     head
	decoder              head
	reward, continuation head
	policy               stack
	mean, deviation      nn.Linear
	value, slow          head
}

func newNetworks(c Config, s rng.Stream) *networks {
	d, z, h, u, b, f := c.Deter, c.groups(), c.Hidden, c.Units, c.Blocks, c.feature()
	n := &networks{
		config: c, bins: newBins(c.Bins),
		ofDeter: newLayer("deter", d, h, s), ofStoch: newLayer("stoch", z, h, s), ofAction: newLayer("action", c.Shape.Act, h, s),
		hidden: newBlocks("hidden", b, d/b+3*h, d/b, s), hiddenNorm: nn.NewRMSNorm("hidden", epsilon, d),
		gates: newBlocks("gates", b, d/b, 3*d/b, s),
		prior: newHead("prior", d, h, 2, z, 1, s), posterior: newHead("posterior", d+c.tokens(), h, 1, z, 1, s),
		reward: newHead("reward", f, u, 1, c.Bins, 0, s), continuation: newHead("continuation", f, u, 1, 1, 1, s),
		policy: newStack("policy", f, u, 3, s),
		mean:   nn.NewLinear("policy.mean", u, c.Shape.Act, scaled(0.01), s), deviation: nn.NewLinear("policy.deviation", u, c.Shape.Act, scaled(0.01), s),
		value: newHead("value", f, u, 3, c.Bins, 0, s), slow: newHead("slow value", f, u, 3, c.Bins, 0, s),
	}
	if c.Side > 0 {
		n.vision = newVision(c, s)
	} else {
		n.encoder, n.decoder = newStack("encoder", c.Shape.Obs, u, 3, s), newHead("decoder", f, u, 3, c.Shape.Obs, 1, s)
	}
	nn.Copy(n.slow.params(), n.value.params())
	return n
}

// newBins returns the bins of rewards and values: ±symexp of an even grid up to 20
// (embodied/jax/heads.py, symexp_twohot).
func newBins(count int) *op.Tensor {
	t := op.NewTensor("bins", count)
	half := count / 2
	for i := range half + 1 {
		v := symexp(-20 + 20*float64(i)/float64(half))
		t.Data[i], t.Data[count-1-i] = float32(v), float32(-v)
	}
	t.Data[half] = 0
	return t
}

// encode builds the tokens of observations [B,O] after symlog, [B,U], or of frames.
func (n *networks) encode(g *op.Graph, obs *op.Node) *op.Node {
	if n.vision != nil {
		return n.vision.encode(g, obs)
	}
	return n.encoder.apply(g, obs)
}

// input is what encode reads of rows: observations, or the bytes of frames.
func (n *networks) input(g *op.Graph, rows int) *op.Node {
	return g.Input("s", rows, n.config.inputs())
}

// embed builds what of an action [B,A] enters the recurrent layers, [B,H]. Actions are within [-1,1].
func (n *networks) embed(g *op.Graph, action *op.Node) *op.Node { return n.ofAction.apply(g, action) }

// step builds the next deterministic part [B,D] from both parts of a latent and an embedded action
// (dreamerv3/rssm.py, _core).
func (n *networks) step(g *op.Graph, deter, stoch, action *op.Node) *op.Node {
	blocks := n.config.Blocks
	all := g.Concat(n.ofDeter.apply(g, deter), n.ofStoch.apply(g, stoch), action)
	before := g.SplitColumns(deter, blocks)
	x := n.hidden.Apply(g, g.Concat(before, g.Members(all, blocks)))
	x = g.SiLU(n.hiddenNorm.Apply(g, g.JoinMembers(x)))
	return g.JoinMembers(g.GatedUpdate(n.gates.Apply(g, g.SplitColumns(x, blocks)), before))
}

// chances builds the probabilities of a latent's groups [B,Stoch·Classes] from logits.
func (n *networks) chances(g *op.Graph, logits *op.Node) *op.Node {
	return g.GroupSoftmax(logits, n.config.Classes, unimix)
}

// seen builds the posterior's logits from a deterministic part and tokens.
func (n *networks) seen(g *op.Graph, deter, tokens *op.Node) *op.Node {
	return n.posterior.apply(g, g.Concat(deter, tokens))
}

// actor builds mean and deviation [B,A] of the policy's normal distribution at features [B,F]
// (embodied/jax/heads.py, bounded_normal).
func (n *networks) actor(g *op.Graph, feature *op.Node) (mean, deviation *op.Node) {
	x := n.policy.apply(g, feature)
	return boundedMean(g, n.mean.Apply(g, x)), boundedDeviation(g, n.deviation.Apply(g, x))
}

func boundedMean(g *op.Graph, x *op.Node) *op.Node { return g.Tanh(x) }

func boundedDeviation(g *op.Graph, x *op.Node) *op.Node {
	return g.Shift(g.Scale(g.Sigmoid(g.Shift(x, 2)), 0.9), 0.1)
}

// decode builds the symlog of observations, whose decoder reads the stochastic part first, or the colours of frames.
func (n *networks) decode(g *op.Graph, deter, stoch *op.Node) *op.Node {
	if n.vision != nil {
		return n.vision.decode(g, deter, stoch)
	}
	return n.decoder.apply(g, g.Concat(stoch, deter))
}

// seenAs builds what decode should give for an input.
func (n *networks) seenAs(g *op.Graph, obs *op.Node) *op.Node {
	if n.vision != nil {
		return g.FromBytes(obs, n.vision.side*n.vision.side*agent.Colours, 0)
	}
	return obs
}

// recurrent are the parameters that the recurrent model's gradient reaches.
func (n *networks) recurrent() []*op.Tensor {
	return slices.Concat(n.ofDeter.params(), n.ofStoch.params(), n.hidden.Params(), []*op.Tensor{n.hiddenNorm.Gamma}, n.gates.Params(), n.posterior.params())
}

// inputs are the parameters of what enters the recurrent model.
func (n *networks) inputs() []*op.Tensor {
	if n.vision != nil {
		return append(n.vision.eyes(), n.ofAction.params()...)
	}
	return append(n.encoder.params(), n.ofAction.params()...)
}

// decoding are the parameters of what makes observations of latents.
func (n *networks) decoding() []*op.Tensor {
	if n.vision != nil {
		return n.vision.brushes()
	}
	return n.decoder.params()
}

// world are the parameters of the heads that learn from replayed env steps alone.
func (n *networks) world() []*op.Tensor {
	return slices.Concat(n.prior.params(), n.reward.params(), n.continuation.params())
}

func (n *networks) actorParams() []*op.Tensor {
	return slices.Concat(n.policy.params(), n.mean.Params(), n.deviation.Params())
}

// learned are all parameters that are stepped, and state those of a file.
func (n *networks) learned() []*op.Tensor {
	return slices.Concat(n.policyParams(), n.world(), n.decoding(), n.value.params())
}

func (n *networks) state() []*op.Tensor { return append(n.learned(), n.slow.params()...) }

// policyParams are the parameters that acting needs.
func (n *networks) policyParams() []*op.Tensor {
	return slices.Concat(n.inputs(), n.recurrent(), n.actorParams())
}
