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

// scorer is a program that computes some numbers for each transition, for a fixed number of rows at
// a time.
type scorer struct {
	program *plan.Program
	in      inputs
	out     *op.Node
	rows    int
}

// newScorer compiles the graph that build returns for that many rows.
func newScorer(name string, rows int, dev device.Device, build func(g *op.Graph) (in inputs, out *op.Node)) (*scorer, error) {
	s := &scorer{rows: rows}
	g, err := op.Build(name, func(g *op.Graph) { s.in, s.out = build(g) })
	if err != nil {
		return nil, err
	}
	s.program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{s.out}}, dev)
	return s, err
}

// run writes the numbers of the first rows transitions of b to dst.
func (s *scorer) run(dst []float32, b *replay.Batch, rows int) error {
	made := s.program.Data(s.out)
	width := len(made) / s.rows
	for first := 0; first < rows; first += s.rows {
		n := min(s.rows, rows-first)
		for _, c := range s.in.columns(b) {
			to := s.program.Data(c.node)
			each := len(to) / s.rows
			copy(to, (*c.data)[first*each:(first+n)*each])
		}
		if err := s.program.Run(0); err != nil {
			return err
		}
		copy(dst[first*width:(first+n)*width], made)
	}
	return nil
}
