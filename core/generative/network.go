package generative

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// network is F(x, t, c), a residual MLP without layer norm. ArchitectureSynthER and
// ArchitecturePGR describe its two kinds. A block is h ← h + Linear(act(h)), and the
// head is Linear(act(h)). Layers are initialised as in PyTorch.
type network struct {
	config  Config
	fourier *op.Tensor // fixed frequencies of the time features, [F]

	time      [2]nn.Linear // 1+2F → hidden → E
	condition [2]nn.Linear // 1 → 2E → E
	x         nn.Linear    // D → E (synther), D → W/2 (pgr)
	embedding nn.Linear    // E → W (synther), [c|t] → W/2 (pgr)
	blocks    []nn.Linear  // W → W
	head      nn.Linear    // W → D
}

// drawNetwork returns a network for vectors of that width with its initial weights, which the device's workers draw together, if
// it lends them.
func drawNetwork(c Config, name string, width int, s rng.Stream, dev device.Device) *network {
	var layers []func()
	n := newNetwork(c, name, width, s, func(w, b []float32, in, out int, s rng.Stream) {
		layers = append(layers, func() { nn.TorchDefault(w, b, in, out, s) })
	})
	draw := func(part, parts int) {
		for i := part; i < len(layers); i += parts {
			layers[i]()
		}
	}
	if lends, is := dev.(device.Sharer); is {
		lends.Share(draw)()
	} else {
		draw(0, 1)
	}
	return n
}

// likeNetwork returns a network with the weights of another one.
func likeNetwork(of *network, name string, width int, s rng.Stream) *network {
	n := newNetwork(of.config, name, width, s, func([]float32, []float32, int, int, rng.Stream) {})
	nn.Copy(n.state(), of.state())
	return n
}

// newNetwork returns a network for vectors of that width, with weights by init.
func newNetwork(c Config, name string, width int, s rng.Stream, init nn.Init) *network {
	layer := func(part string, in, out int) nn.Linear {
		return nn.NewLinear(name+"."+part, in, out, init, s.Sub(part))
	}
	n := &network{config: c, fourier: op.NewTensor(name+".fourier", c.Fourier)}
	s.Sub("fourier").FillNormal(n.fourier.Data, 0, 0)
	hidden, embedded := 4*c.Embedding, c.Embedding
	if c.Architecture == ArchitectureSynthER {
		hidden = c.Embedding
	}
	n.time = [2]nn.Linear{layer("time0", 1+2*c.Fourier, hidden), layer("time1", hidden, c.Embedding)}
	if c.Conditional {
		n.condition = [2]nn.Linear{layer("condition0", 1, 2*c.Embedding), layer("condition1", 2*c.Embedding, c.Embedding)}
		embedded = 2 * c.Embedding
	}
	if c.Architecture == ArchitectureSynthER {
		n.x = layer("x", width, c.Embedding)
		n.embedding = layer("embedding", c.Embedding, c.Width)
	} else {
		n.x = layer("x", width, c.Width/2)
		n.embedding = layer("embedding", embedded, c.Width/2)
	}
	for i := range c.Blocks {
		n.blocks = append(n.blocks, layer(fmt.Sprintf("block%d", i), c.Width, c.Width))
	}
	n.head = layer("head", c.Width, width)
	return n
}

// params returns the trained tensors, in a fixed order.
func (n *network) params() []*op.Tensor {
	layers := []nn.Linear{n.time[0], n.time[1]}
	if n.config.Conditional {
		layers = append(layers, n.condition[0], n.condition[1])
	}
	layers = append(layers, n.x, n.embedding)
	layers = append(layers, n.blocks...)
	layers = append(layers, n.head)
	var params []*op.Tensor
	for _, l := range layers {
		params = append(params, l.Params()...)
	}
	return params
}

// state returns all tensors that a copy of the network needs.
func (n *network) state() []*op.Tensor { return append(n.params(), n.fourier) }

// apply builds F(x, t, keep·c) for x [B,D], t [B,1] and, in a conditional network,
// condition and keep [B,1]. keep is 1 or 0 for each row and scales the embedding
// of the condition: the null condition is the zero vector. The result is [B,D].
func (n *network) apply(g *op.Graph, x, t, condition, keep *op.Node) *op.Node {
	var conditioned *op.Node
	if n.config.Conditional {
		conditioned = g.RowScale(n.conditioned(g, condition), keep)
	}
	return n.body(g, n.x.Apply(g, x), n.context(g, n.timed(g, t), conditioned))
}

// timed embeds noise levels t [B,1] as [B,E].
func (n *network) timed(g *op.Graph, t *op.Node) *op.Node {
	return n.embed(g, n.time, g.Fourier(t, g.Bind(n.fourier)))
}

// conditioned embeds conditions [B,1] as [B,E].
func (n *network) conditioned(g *op.Graph, condition *op.Node) *op.Node {
	return n.embed(g, n.condition, condition)
}

func (n *network) embed(g *op.Graph, layers [2]nn.Linear, in *op.Node) *op.Node {
	inner := (*op.Graph).Mish
	if n.config.Architecture == ArchitectureSynthER {
		inner = (*op.Graph).SiLU
	}
	return layers[1].Apply(g, inner(g, layers[0].Apply(g, in)))
}

// context builds what the blocks receive besides x, from the embeddings of time
// and condition (nil in an unconditional network): [B,E] (synther), [B,W/2] (pgr).
func (n *network) context(g *op.Graph, timed, conditioned *op.Node) *op.Node {
	if n.config.Architecture == ArchitectureSynthER {
		if conditioned == nil {
			return timed
		}
		return g.Add(timed, conditioned)
	}
	if conditioned != nil {
		timed = g.Concat(conditioned, timed)
	}
	return n.embedding.Apply(g, timed)
}

// body builds F from the layer of x and the context.
func (n *network) body(g *op.Graph, x, context *op.Node) *op.Node {
	var h *op.Node
	if n.config.Architecture == ArchitectureSynthER {
		h = n.embedding.Apply(g, g.Add(x, context))
	} else {
		h = g.Concat(x, context)
	}
	return n.trunk(g, h, n.blocks)
}

// trunk builds F from the operand h [B,W] of the last blocks.
func (n *network) trunk(g *op.Graph, h *op.Node, blocks []nn.Linear) *op.Node {
	act := activation(n.config.Activation)
	for _, block := range blocks {
		h = g.Add(h, block.Apply(g, act(g, h)))
	}
	return n.head.Apply(g, act(g, h))
}

// activation returns the graph builder of a validated name.
func activation(name string) func(*op.Graph, *op.Node) *op.Node {
	switch name {
	case "relu":
		return (*op.Graph).ReLU
	case "silu":
		return (*op.Graph).SiLU
	case "elu":
		return (*op.Graph).ELU
	case "tanh":
		return (*op.Graph).Tanh
	}
	return (*op.Graph).Mish
}
