package generative

import (
	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// separated is the served network F(x, t, c) in parts that depend on t alone and on c alone, so that an
// evaluation computes only what depends on x. With h the operand of the blocks, x·W_x the layer of x,
// and t and c embedded,
//
//	pgr      h = [x·W_x | r + p],   r = t·W_t + b,         p = c·W_c
//	synther  h = (x·W_x)·W + r + p, r = t·W + b,           p = c·W
//
// where p is 0 under the null condition. The sums have another order than in network.apply.
type separated struct {
	*network
	condition nn.Linear // c to p, without bias
}

func newSeparated(n *network) *separated {
	a := &separated{network: n}
	if n.config.Conditional {
		a.condition = nn.Linear{W: n.embedding.W, B: op.NewTensor("no bias", n.embedding.B.Shape...)}
		if n.config.Architecture == ArchitecturePGR {
			a.condition.W = op.NewTensor("embedding of the condition", n.config.Embedding, n.config.Width/2)
		}
	}
	return a
}

// set takes the weights of the network as they are now.
func (a *separated) set(dev device.Device) error {
	if a.condition.W == nil || a.condition.W == a.embedding.W {
		return nil
	}
	copy(a.condition.W.Data, a.embedding.W.Data) // its first rows
	return plan.Push(dev, a.condition.W)
}

// level builds r [B,·] from levels t [B,1].
func (a *separated) level(g *op.Graph, t *op.Node) *op.Node {
	timed := a.timed(g, t)
	if a.config.Architecture == ArchitectureSynthER {
		return a.embedding.Apply(g, timed)
	}
	var null *op.Node
	if a.config.Conditional {
		null = g.Bind(op.NewTensor("null condition", t.Shape()[0], a.config.Embedding))
	}
	return a.context(g, timed, null)
}

// prompted builds p [B,·] from conditions [B,1].
func (a *separated) prompted(g *op.Graph, condition *op.Node) *op.Node {
	return a.condition.Apply(g, a.conditioned(g, condition))
}

// prompts is the columns of p.
func (a *separated) prompts() int { return a.embedding.W.Shape[1] }

// apply builds F [B,·] from the layer of x, r as a vector, and p, which is nil under the null
// condition.
func (a *separated) apply(g *op.Graph, layer, r, p *op.Node) *op.Node {
	if a.config.Architecture == ArchitectureSynthER {
		h := g.Linear(layer, g.Bind(a.embedding.W), r)
		if p != nil {
			h = g.Add(p, h)
		}
		return a.trunk(g, h)
	}
	if p == nil {
		return a.trunk(g, g.Concat(layer, g.Members(r, layer.Shape()[0])))
	}
	return a.trunk(g, g.Concat(layer, g.ColAdd(p, r)))
}
