package mlp

import (
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// Separated is a network F(x, t, c) in parts that depend on t alone and on c alone, so that an
// evaluation computes only what depends on x. With h the operand of the first block, x·X the layer of x,
// and t and c embedded,
//
//	pgr      h = [x·X | r + p],   r = t·T + b, p = c·C
//	synther  h = (x·X)·E + r + p, r = t·E + b, p = c·E
//
// where p is 0 under the null condition. In pgr the first block, of weights W for the first half of h and
// V for the second, is
//
//	h + act(h)·[W;V] + b = act(x·X)·W + [x·X | 0] + n
//	                     + act(r + p)·V + [0 | p] − q,   q = act(r)·V, n = b + q + [0 | r]
//
// The first line is the block under the null condition, so that both estimates share it. r, n and −q
// are rows of the level. The sums have another order than in Network.Apply.
type Separated struct {
	*Network
	condition nn.Linear     // c to p, without bias
	first     [2]*op.Tensor // W and V of the first block; nil in synther
}

// NewSeparated returns n in parts, which have its weights after Set.
func NewSeparated(n *Network) *Separated {
	s, half := &Separated{Network: n}, n.config.Width/2
	if n.config.Architecture == PGR {
		s.first = [2]*op.Tensor{op.NewTensor("first block, of x", half, n.config.Width), op.NewTensor("first block, of t and c", half, n.config.Width)}
	}
	if n.config.Conditional {
		s.condition = nn.Linear{W: n.Embedding.W, B: op.NewTensor("no bias", n.Embedding.B.Shape...)}
		if n.config.Architecture == PGR {
			s.condition.W = op.NewTensor("embedding of the condition", n.config.Embedding, half)
		}
	}
	return s
}

// Set takes the weights of the network as they are now.
func (s *Separated) Set(dev device.Device) error {
	if s.config.Architecture == SynthER {
		return nil
	}
	block := s.Blocks[0].W.Data
	copy(s.first[0].Data, block)
	copy(s.first[1].Data, block[len(block)/2:])
	if err := plan.Push(dev, s.first[:]...); err != nil || !s.config.Conditional {
		return err
	}
	copy(s.condition.W.Data, s.Embedding.W.Data) // its first rows
	return plan.Push(dev, s.condition.W)
}

// The rows of a level: in synther the first alone.
const (
	rowContext = iota // r
	rowNull           // n
	rowAsked          // −q
)

// Level builds the rows [B,·] of levels t [B,1].
func (s *Separated) Level(g *op.Graph, t *op.Node) []*op.Node {
	timed := s.timed(g, t)
	if s.config.Architecture == SynthER {
		return []*op.Node{s.Embedding.Apply(g, timed)}
	}
	var null *op.Node
	if s.config.Conditional {
		null = g.Bind(op.NewTensor("null condition", t.Shape()[0], s.config.Embedding))
	}
	r := s.context(g, timed, null)
	q := g.Linear(Activation(s.config.Activation)(g, r), g.Bind(s.first[1]), g.Bind(op.NewTensor("no bias", s.config.Width)))
	n := g.AddColumns(g.ColAdd(q, g.Bind(s.Blocks[0].B)), r, s.config.Width/2)
	return []*op.Node{rowContext: r, rowNull: n, rowAsked: g.Scale(q, -1)}
}

// Prompted builds p [B,·] from conditions [B,1].
func (s *Separated) Prompted(g *op.Graph, condition *op.Node) *op.Node {
	return s.condition.Apply(g, s.conditioned(g, condition))
}

// Prompts is the number of columns of p, 0 without conditions.
func (s *Separated) Prompts() int {
	if !s.config.Conditional {
		return 0
	}
	return s.Embedding.W.Shape[1]
}

// Null builds what the rest of the network reads under the null condition, from x and the rows of the
// level.
func (s *Separated) Null(g *op.Graph, x *op.Node, level []*op.Node) *op.Node {
	layer := s.X.Apply(g, x)
	if s.config.Architecture == SynthER {
		return g.Linear(layer, g.Bind(s.Embedding.W), level[rowContext])
	}
	read := Activation(s.config.Activation)(g, layer)
	return g.AddColumns(g.Linear(read, g.Bind(s.first[0]), level[rowNull]), layer, 0)
}

// Asked builds what the rest of the network reads under prompts, from what it reads under the null
// condition.
func (s *Separated) Asked(g *op.Graph, null, prompted *op.Node, level []*op.Node) *op.Node {
	if s.config.Architecture == SynthER {
		return g.Add(null, prompted)
	}
	read := Activation(s.config.Activation)(g, g.ColAdd(prompted, level[rowContext]))
	change := g.Linear(read, g.Bind(s.first[1]), level[rowAsked])
	return g.AddColumns(g.Add(null, change), prompted, s.config.Width/2)
}

// Rest builds F from h, in pgr after the first block.
func (s *Separated) Rest(g *op.Graph, h *op.Node) *op.Node {
	if s.config.Architecture == SynthER {
		return s.trunk(g, h, s.Blocks)
	}
	return s.trunk(g, h, s.Blocks[1:])
}
