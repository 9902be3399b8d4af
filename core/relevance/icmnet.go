package relevance

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// icmNet holds the weights of the curiosity model. Swish is SiLU; all layers are initialised as in
// PyTorch.
type icmNet struct {
	config  ICMConfig
	shape   replay.Shape
	encoder []nn.Linear    // h: O → H → H → H
	inverse []nn.Linear    // 2H → H → H → A, batch norm and Swish after the first two
	norms   []batchNorm    // of inverse
	forward [2][]nn.Linear // H+A → H → H → H → H → H each, before and after the residual rounds
	block   []nn.Linear    // R: H+A → H → H, one in all eight places: the released code multiplies a list, which repeats the reference to one module
}

// batchNorm is one normalisation of H columns.
type batchNorm struct {
	gamma, beta *op.Tensor // [H]
	running     *op.Tensor // [3,H]: mean, biased and unbiased variance
}

func newICMNet(c ICMConfig, shape replay.Shape, s rng.Stream) *icmNet {
	n := &icmNet{config: c, shape: shape}
	h := c.Hidden
	layers := func(name string, sizes ...int) (out []nn.Linear) {
		for i := range sizes[1:] {
			part := fmt.Sprintf("curiosity.%s%d", name, i)
			out = append(out, nn.NewLinear(part, sizes[i], sizes[i+1], nn.TorchDefault, s))
		}
		return out
	}
	n.encoder = layers("encoder", shape.Obs, h, h, h)
	n.inverse = layers("inverse", 2*h, h, h, shape.Act)
	n.forward[0] = layers("before", h+shape.Act, h, h, h, h, h)
	n.forward[1] = layers("after", h+shape.Act, h, h, h, h, h)
	n.block = layers("residual0.", h+shape.Act, h, h)
	for i := range 2 {
		n.norms = append(n.norms, newBatchNorm(fmt.Sprintf("curiosity.norm%d", i), h))
	}
	return n
}

// newBatchNorm is initialised like PyTorch's BatchNorm1d: gamma 1, beta 0, running mean 0 and
// variance 1.
func newBatchNorm(name string, width int) batchNorm {
	b := batchNorm{op.NewTensor(name+".gamma", width), op.NewTensor(name+".beta", width), op.NewTensor(name+".running", op.StatsRows, width)}
	for i := range width {
		b.gamma.Data[i] = 1
		b.running.Data[op.StatsVar*width+i] = 1
		b.running.Data[op.StatsUnbiased*width+i] = 1
	}
	return b
}

// params are the trained tensors, in a fixed order.
func (n *icmNet) params() []*op.Tensor {
	var params []*op.Tensor
	for _, group := range [][]nn.Linear{n.encoder, n.inverse, n.forward[0], n.forward[1], n.block} {
		for _, l := range group {
			params = append(params, l.Params()...)
		}
	}
	for _, b := range n.norms {
		params = append(params, b.gamma, b.beta)
	}
	return params
}

// state is params and the running statistics.
func (n *icmNet) state() []*op.Tensor {
	state := n.params()
	for _, b := range n.norms {
		state = append(state, b.running)
	}
	return state
}

// icmGraph is one program of the model; nodes that it does not use are nil.
type icmGraph struct {
	graph          *op.Graph
	net            *icmNet
	obs, act, next *op.Node   // [B,O], [B,A], [B,O]
	loss           *op.Node   // of the update
	stats          []*op.Node // batch statistics of the update, one for each norm
	out            *op.Node   // score [B,1] or actions [B,A]
}

func buildICM(name string, n *icmNet, rows int, build func(p *icmGraph, g *op.Graph, rows int)) (icmGraph, error) {
	p := icmGraph{net: n}
	var err error
	p.graph, err = op.Build(name, func(g *op.Graph) { p.build(g, rows, build) })
	return p, err
}

func (p *icmGraph) build(g *op.Graph, rows int, more func(p *icmGraph, g *op.Graph, rows int)) {
	p.obs, p.next = g.Input("obs", rows, p.net.shape.Obs), g.Input("next", rows, p.net.shape.Obs)
	more(p, g, rows)
}

// buildLoss is MSE(g(h(s), a), h(s')) without a gradient to h(s'), plus the MSE of the predicted
// action with equal weight.
func (p *icmGraph) buildLoss(g *op.Graph, rows int) {
	c := p.net.config
	p.act = g.Input("act", rows, p.net.shape.Act)
	h, next := mlp(g, p.net.encoder, p.obs), mlp(g, p.net.encoder, p.next)
	forward := g.SquaredError(p.net.predict(g, h, p.act), g.StopGradient(next), float64(rows*c.Hidden))
	action := p.net.action(g, h, next, func(i int, z *op.Node) *op.Node {
		stats := g.BatchStats(z)
		p.stats = append(p.stats, stats)
		norm := p.net.norms[i]
		return g.BatchNorm(z, g.Bind(norm.gamma), g.Bind(norm.beta), stats)
	})
	p.loss = g.AddScalars(forward, g.SquaredError(action, p.act, float64(rows*p.net.shape.Act)))
}

// buildScore is the forward model's mean squared error of each row.
func (p *icmGraph) buildScore(g *op.Graph, rows int) {
	p.act = g.Input("act", rows, p.net.shape.Act)
	h, next := mlp(g, p.net.encoder, p.obs), mlp(g, p.net.encoder, p.next)
	p.out = g.RowMeanSquare(p.net.predict(g, h, p.act), next)
}

// buildInverse is the inverse model in eval mode.
func (p *icmGraph) buildInverse(g *op.Graph, _ int) {
	h, next := mlp(g, p.net.encoder, p.obs), mlp(g, p.net.encoder, p.next)
	p.out = p.net.action(g, h, next, func(i int, z *op.Node) *op.Node {
		norm := p.net.norms[i]
		return g.BatchNormEval(z, g.Bind(norm.gamma), g.Bind(norm.beta), g.Bind(norm.running))
	})
}

// mlp applies layers with Swish between them.
func mlp(g *op.Graph, layers []nn.Linear, x *op.Node) *op.Node {
	for i, l := range layers {
		if i > 0 {
			x = g.SiLU(x)
		}
		x = l.Apply(g, x)
	}
	return x
}

// action predicts a [B,A] from h(s) and h(s') [B,H].
func (n *icmNet) action(g *op.Graph, h, next *op.Node, norm func(i int, z *op.Node) *op.Node) *op.Node {
	z := g.Concat(h, next)
	for i, l := range n.inverse {
		z = l.Apply(g, z)
		if i < len(n.norms) {
			z = g.SiLU(norm(i, z))
		}
	}
	return z
}

// predict is g(h(s), a) [B,H]: MLP₁, four rounds z ← R([R([z,a]), a]) + z, MLP₂.
func (n *icmNet) predict(g *op.Graph, h, act *op.Node) *op.Node {
	z := mlp(g, n.forward[0], g.Concat(h, act))
	for range rounds {
		y := mlp(g, n.block, g.Concat(z, act))
		z = g.Add(mlp(g, n.block, g.Concat(y, act)), z)
	}
	return mlp(g, n.forward[1], g.Concat(z, act))
}
