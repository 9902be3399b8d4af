// Package mlp has the network F(x, t, c) of a diffusion model: a residual MLP without layer norm, of x, a
// noise level t and a condition c (conglu1997/SynthER: synther/diffusion/denoiser_network.py; renwang435/pgr:
// synther/diffusion/denoiser_network_cond.py).
package mlp

import (
	"fmt"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// The architectures.
const (
	// SynthER adds the embeddings to the projected vector.
	SynthER = "synther"
	// PGR has the projected vector and the projected embeddings side by side, each with half of the width.
	PGR = "pgr"
)

// Sizes are the sizes of a network.
type Sizes struct {
	Architecture  string // SynthER or PGR
	Width, Blocks int    // of the residual trunk, blocks h + Linear(act(h))
	Activation    string // of the trunk: "relu", "silu", "mish", "elu", "tanh"
	Embedding     int    // width of the embeddings of time and condition
	Fourier       int    // frequencies of the time features
	Conditional   bool   // whether the network has a condition input
}

// Network is F(x, t, c). A block is h ← h + Linear(act(h)), and the head is Linear(act(h)). Layers are
// initialised as in PyTorch.
type Network struct {
	config  Sizes
	Fourier *op.Tensor // fixed frequencies of the time features, [F]

	Time      [2]nn.Linear // 1+2F → hidden → E
	Condition [2]nn.Linear // 1 → 2E → E
	X         nn.Linear    // D → E (synther), D → W/2 (pgr)
	Embedding nn.Linear    // E → W (synther), [c|t] → W/2 (pgr)
	Blocks    []nn.Linear  // W → W
	Head      nn.Linear    // W → D
}

// New returns a network for vectors of that width, with weights by init.
func New(c Sizes, name string, width int, s rng.Stream, init nn.Init) *Network {
	layer := func(part string, in, out int) nn.Linear {
		return nn.NewLinear(name+"."+part, in, out, init, s.Sub(part))
	}
	n := &Network{config: c, Fourier: op.NewTensor(name+".fourier", c.Fourier)}
	s.Sub("fourier").FillNormal(n.Fourier.Data, 0, 0)
	hidden, embedded := 4*c.Embedding, c.Embedding
	if c.Architecture == SynthER {
		hidden = c.Embedding
	}
	n.Time = [2]nn.Linear{layer("time0", 1+2*c.Fourier, hidden), layer("time1", hidden, c.Embedding)}
	if c.Conditional {
		n.Condition = [2]nn.Linear{layer("condition0", 1, 2*c.Embedding), layer("condition1", 2*c.Embedding, c.Embedding)}
		embedded = 2 * c.Embedding
	}
	if c.Architecture == SynthER {
		n.X = layer("x", width, c.Embedding)
		n.Embedding = layer("embedding", c.Embedding, c.Width)
	} else {
		n.X = layer("x", width, c.Width/2)
		n.Embedding = layer("embedding", embedded, c.Width/2)
	}
	for i := range c.Blocks {
		n.Blocks = append(n.Blocks, layer(fmt.Sprintf("block%d", i), c.Width, c.Width))
	}
	n.Head = layer("head", c.Width, width)
	return n
}

// Params returns the trained tensors, in a fixed order.
func (n *Network) Params() []*op.Tensor {
	layers := []nn.Linear{n.Time[0], n.Time[1]}
	if n.config.Conditional {
		layers = append(layers, n.Condition[0], n.Condition[1])
	}
	layers = append(layers, n.X, n.Embedding)
	layers = append(layers, n.Blocks...)
	layers = append(layers, n.Head)
	var params []*op.Tensor
	for _, l := range layers {
		params = append(params, l.Params()...)
	}
	return params
}

// State returns all tensors that a copy of the network needs.
func (n *Network) State() []*op.Tensor { return append(n.Params(), n.Fourier) }

// Apply builds F(x, t, keep·c) for x [B,D], t [B,1] and, in a conditional network,
// condition and keep [B,1]. keep is 1 or 0 for each row and scales the embedding
// of the condition: the null condition is the zero vector. The result is [B,D].
func (n *Network) Apply(g *op.Graph, x, t, condition, keep *op.Node) *op.Node {
	var conditioned *op.Node
	if n.config.Conditional {
		conditioned = g.RowScale(n.conditioned(g, condition), keep)
	}
	return n.body(g, n.X.Apply(g, x), n.context(g, n.timed(g, t), conditioned))
}

// timed embeds noise levels t [B,1] as [B,E].
func (n *Network) timed(g *op.Graph, t *op.Node) *op.Node {
	return n.embed(g, n.Time, g.Fourier(t, g.Bind(n.Fourier)))
}

// conditioned embeds conditions [B,1] as [B,E].
func (n *Network) conditioned(g *op.Graph, condition *op.Node) *op.Node {
	return n.embed(g, n.Condition, condition)
}

func (n *Network) embed(g *op.Graph, layers [2]nn.Linear, in *op.Node) *op.Node {
	inner := (*op.Graph).Mish
	if n.config.Architecture == SynthER {
		inner = (*op.Graph).SiLU
	}
	return layers[1].Apply(g, inner(g, layers[0].Apply(g, in)))
}

// context builds what the blocks receive besides x, from the embeddings of time
// and condition (nil in an unconditional network): [B,E] (synther), [B,W/2] (pgr).
func (n *Network) context(g *op.Graph, timed, conditioned *op.Node) *op.Node {
	if n.config.Architecture == SynthER {
		if conditioned == nil {
			return timed
		}
		return g.Add(timed, conditioned)
	}
	if conditioned != nil {
		timed = g.Concat(conditioned, timed)
	}
	return n.Embedding.Apply(g, timed)
}

// body builds F from the layer of x and the context.
func (n *Network) body(g *op.Graph, x, context *op.Node) *op.Node {
	var h *op.Node
	if n.config.Architecture == SynthER {
		h = n.Embedding.Apply(g, g.Add(x, context))
	} else {
		h = g.Concat(x, context)
	}
	return n.trunk(g, h, n.Blocks)
}

// trunk builds F from the operand h [B,W] of the last blocks.
func (n *Network) trunk(g *op.Graph, h *op.Node, blocks []nn.Linear) *op.Node {
	act := Activation(n.config.Activation)
	for _, block := range blocks {
		h = g.Add(h, block.Apply(g, act(g, h)))
	}
	return n.Head.Apply(g, act(g, h))
}

// Activation returns the graph builder of a validated name.
func Activation(name string) func(*op.Graph, *op.Node) *op.Node {
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
