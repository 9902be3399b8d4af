package relevance

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// inputs are the nodes [rows, …] of a graph into which parts of transitions are copied; a part that
// the graph does not use has a nil node.
type inputs struct{ obs, act, reward, next *op.Node }

// column is a part of a batch and its node.
type column struct {
	node *op.Node
	data *[]float32
}

// columns returns the parts of b that have a node.
func (in inputs) columns(b *replay.Batch) (all []column) {
	for _, c := range []column{{in.obs, &b.Obs}, {in.act, &b.Act}, {in.reward, &b.Reward}, {in.next, &b.Next}} {
		if c.node != nil {
			all = append(all, c)
		}
	}
	return all
}

// batch returns a batch of rows transitions whose parts are the memory of p's inputs.
func (in inputs) batch(p *plan.Program, shape replay.Shape, rows int) *replay.Batch {
	b := replay.NewBatch(shape, rows)
	for _, c := range in.columns(b) {
		*c.data = p.Data(c.node)
	}
	return b
}

// scorer is a program that computes a number for each transition.
type scorer struct {
	*plan.Blocks
	in inputs
}

// newScorer compiles the graph that build returns for that many rows.
func newScorer(name string, rows int, dev device.Device, build func(g *op.Graph) (in inputs, out *op.Node)) (*scorer, error) {
	s := &scorer{}
	var err error
	s.Blocks, err = plan.NewBlocks(name, rows, dev, func(g *op.Graph) ([]*op.Node, plan.Spec) {
		var out *op.Node
		s.in, out = build(g)
		return nil, plan.Spec{Outputs: []*op.Node{out}}
	})
	return s, err
}

// set copies the n transitions that begin with number first to the inputs.
func (s *scorer) set(b *replay.Batch, first, n int) {
	for _, c := range [...]column{{s.in.obs, &b.Obs}, {s.in.act, &b.Act}, {s.in.reward, &b.Reward}, {s.in.next, &b.Next}} {
		if c.node != nil {
			to := s.Data(c.node)
			width := len(to) / s.Rows
			copy(to, (*c.data)[first*width:(first+n)*width])
		}
	}
}
