package relevance

import (
	"fmt"
	"slices"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// ecoNet holds the weights of the R-network. The comparator's first layer takes [E(x), E(y)] after
// a batch norm and ReLU, both of which act on columns. It is therefore the sum of one layer for
// each half, so that the output for a remembered observation need not be computed again.
type ecoNet struct {
	embedding ecoEmbedding
	halves    [2]batchNorm // of E(x) and of E(y)
	first     [2]nn.Linear // of the halves
	norms     []batchNorm  // after the first layer and those of rest but the last
	rest      []nn.Linear  // the last gives the logits: distant, close
}

// The columns of logits and labels.
const (
	farLogit = iota
	closeLogit
	ecoLogits
)

func newECONet(c ECOConfig, numbers int, f Frames, s rng.Stream) *ecoNet {
	n := &ecoNet{embedding: c.newEmbedding(numbers, f, s)}
	whole := nn.NewLinear("eco.comparator0", 2*c.Features, c.Comparator[0], c.init(f), s)
	for i := range 2 {
		name := fmt.Sprintf("eco.comparator0.%d", i)
		n.halves[i] = newBatchNorm(fmt.Sprintf("eco.norm.half%d", i), c.Features)
		n.first[i] = nn.Linear{W: op.NewTensor(name+".w", c.Features, c.Comparator[0]), B: op.NewTensor(name+".b", c.Comparator[0])}
		copy(n.first[i].W.Data, whole.W.Data[i*c.Features*c.Comparator[0]:])
	}
	copy(n.first[0].B.Data, whole.B.Data)
	widths := append(append([]int{}, c.Comparator...), ecoLogits)
	for i, width := range c.Comparator {
		n.norms = append(n.norms, newBatchNorm(fmt.Sprintf("eco.norm%d", i), width))
		n.rest = append(n.rest, nn.NewLinear(fmt.Sprintf("eco.comparator%d", i+1), width, widths[i+1], c.init(f), s))
	}
	return n
}

// params are the trained tensors.
func (n *ecoNet) params() []*op.Tensor {
	all := append(n.embedding.params(), append(n.first[0].Params(), n.first[1].Params()...)...)
	for _, l := range n.rest {
		all = append(all, l.Params()...)
	}
	for _, b := range n.allNorms() {
		all = append(all, b.gamma, b.beta)
	}
	return all
}

// allNorms are the batch norms.
func (n *ecoNet) allNorms() []batchNorm {
	return slices.Concat(n.halves[:], n.norms, n.embedding.norms())
}

// state is params and the running statistics.
func (n *ecoNet) state() []*op.Tensor {
	all := n.params()
	for _, b := range n.allNorms() {
		all = append(all, b.running)
	}
	return all
}

// norming adds a batch norm to a graph.
type norming func(g *op.Graph, z *op.Node, b batchNorm) *op.Node

// byRunning normalises with the running statistics.
func byRunning(g *op.Graph, z *op.Node, b batchNorm) *op.Node {
	if b.ofChannels(z) {
		return g.ChannelNormEval(z, g.Bind(b.gamma), g.Bind(b.beta), g.Bind(b.running))
	}
	return g.BatchNormEval(z, g.Bind(b.gamma), g.Bind(b.beta), g.Bind(b.running))
}

// ofChannels reports whether z are images: rows of several places with a number for each column of
// b.
func (b batchNorm) ofChannels(z *op.Node) bool { return z.Shape()[1] != b.gamma.Shape[0] }

// byBatch normalises with the statistics of the batch, which it returns too.
func (b batchNorm) byBatch(g *op.Graph, z *op.Node) (out, stats *op.Node) {
	if b.ofChannels(z) {
		stats = g.ChannelStats(z, b.gamma.Shape[0])
		return g.ChannelNorm(z, g.Bind(b.gamma), g.Bind(b.beta), stats), stats
	}
	stats = g.BatchStats(z)
	return g.BatchNorm(z, g.Bind(b.gamma), g.Bind(b.beta), stats), stats
}

// half is the output [B,H] of the comparator's first layer for embeddings [B,F] in the first or in
// the second place.
func (n *ecoNet) half(g *op.Graph, e *op.Node, place int, norm norming) *op.Node {
	return n.first[place].Apply(g, g.ReLU(norm(g, e, n.halves[place])))
}

// logits returns the logits [B,2] of the sum of two halves [B,H].
func (n *ecoNet) logits(g *op.Graph, z *op.Node, norm norming) *op.Node {
	for i, l := range n.rest {
		z = l.Apply(g, g.ReLU(norm(g, z, n.norms[i])))
	}
	return z
}

// ecoGraph is the graph of an update.
type ecoGraph struct {
	graph        *op.Graph
	x, y, labels *op.Node // [B,O], [B,O], [B,2]
	loss         *op.Node
	stats        []normed // of the batch
}

// normed is a batch norm and the statistics that it took from the batch.
type normed struct {
	by    batchNorm
	stats *op.Node
}

// build builds the mean cross-entropy of that many pairs of observations of width numbers. Batch
// norms use the statistics of the batch, of x and of y separately, like the two branches of the
// original. Weight decay is added to the loss.
func (n *ecoNet) build(width, rows int) (p ecoGraph, err error) {
	p.graph, err = op.Build("eco update", func(g *op.Graph) {
		p.x, p.y, p.labels = g.Input("x", rows, width), g.Input("y", rows, width), g.Input("close", rows, ecoLogits)
		norm := func(g *op.Graph, z *op.Node, b batchNorm) *op.Node {
			out, stats := b.byBatch(g, z)
			p.stats = append(p.stats, normed{b, stats})
			return out
		}
		z := g.Add(n.half(g, n.embedding.apply(g, p.x, norm), 0, norm), n.half(g, n.embedding.apply(g, p.y, norm), 1, norm))
		losses := []*op.Node{g.CrossEntropy(n.logits(g, z, norm), p.labels, float64(rows))}
		for _, w := range n.embedding.decayed() {
			losses = append(losses, g.Sum(g.Square(g.Bind(w)), 1/weightDecay))
		}
		p.loss = g.AddScalars(losses...)
	})
	return p, err
}

// Rows of the programs that embed and compare. For frames as many rows are embedded as there are
// copies, but at most embeddedRows.
const (
	embeddedRows = 32
	comparedRows = 256
)

// ecoPrograms are the compiled programs of the R-network.
type ecoPrograms struct {
	step      *plan.Program
	optimiser *plan.Adam
	x, y      []float32 // of step
	labels    []float32

	embed   *plan.Program // outputs of both halves of the first layer for observations
	rows    int           // that are embedded together, at most embeddedRows
	obs     []float32     // of embed, [rows,O]
	halves  [2][]float32  // [rows,H]
	compare *plan.Program
	sums    []float32 // of compare, [comparedRows,H]
	logits  []float32 // [comparedRows,2]
}

func (p *ecoPrograms) close() error { return plan.Close(p.step, p.embed, p.compare) }

// compile makes the programs.
func (m *ECO) compile() error {
	n, c, p := m.net, m.config, &m.programs
	if err := plan.Push(m.device, n.state()...); err != nil {
		return err
	}
	update, err := n.build(m.width, c.Batch)
	if err != nil {
		return err
	}
	rate, momentum := op.NewTensor("eco rate", 1), op.NewTensor("eco momentum", 1)
	rate.Data[0], momentum.Data[0] = float32(c.LR), float32(c.Momentum)
	p.optimiser = plan.NewAdam(n.params(), plan.DefaultAdam, rate)
	var lerps []plan.Lerp
	for _, n := range update.stats {
		lerps = append(lerps, plan.Lerp{Dst: n.by.running, Node: n.stats, Rate: momentum})
	}
	if p.step, err = plan.Compile(update.graph, plan.Spec{Loss: update.loss, Optimiser: p.optimiser, Lerps: lerps}, m.device); err != nil {
		return err
	}
	p.x, p.y, p.labels = p.step.Data(update.x), p.step.Data(update.y), p.step.Data(update.labels)
	return m.compileEvaluation()
}

// compileEvaluation makes the programs that use the running statistics.
func (m *ECO) compileEvaluation() (err error) {
	n, p := m.net, &m.programs
	var in, sums, logits *op.Node
	var halves [2]*op.Node
	p.embed, err = plan.Build("eco embed", m.device, func(g *op.Graph) plan.Spec {
		in = g.Input("s", p.rows, m.width)
		e := n.embedding.apply(g, in, byRunning)
		halves = [2]*op.Node{n.half(g, e, 0, byRunning), n.half(g, e, 1, byRunning)}
		return plan.Spec{Outputs: halves[:]}
	})
	if err != nil {
		return err
	}
	p.compare, err = plan.Build("eco compare", m.device, func(g *op.Graph) plan.Spec {
		sums = g.Input("halves", comparedRows, m.config.Comparator[0])
		logits = n.logits(g, sums, byRunning)
		return plan.Spec{Outputs: []*op.Node{logits}}
	})
	if err != nil {
		return err
	}
	p.obs, p.sums, p.logits = p.embed.Data(in), p.compare.Data(sums), p.compare.Data(logits)
	for i, h := range halves {
		p.halves[i] = p.embed.Data(h)
	}
	return nil
}
