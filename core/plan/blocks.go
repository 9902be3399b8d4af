package plan

import (
	"pgrlab/core/device"
	"pgrlab/core/op"
)

// Blocks is a program that computes columns from columns for any number of rows, a block of rows at a
// time.
type Blocks struct {
	*Program
	Rows    int         // of a block
	In, Out [][]float32 // of a block, each [Rows,·]
}

// NewBlocks compiles the graph that build makes for blocks of that many rows. build returns the inputs,
// and a Spec with the outputs.
func NewBlocks(name string, rows int, dev device.Device, build func(g *op.Graph) (in []*op.Node, s Spec)) (*Blocks, error) {
	b := &Blocks{Rows: rows}
	var in, out []*op.Node
	var err error
	b.Program, err = Build(name, dev, func(g *op.Graph) (s Spec) {
		in, s = build(g)
		out = s.Outputs
		return s
	})
	if err != nil {
		return nil, err
	}
	for _, n := range in {
		b.In = append(b.In, b.Data(n))
	}
	for _, n := range out {
		b.Out = append(b.Out, b.Data(n))
	}
	return b, nil
}

// Each runs the program for rows rows. write sets In for the n rows that begin with row first; rows of
// a block beyond them keep their numbers. The outputs are copied to out, those without one are not.
// Block i has the random numbers of occasion+i.
func (b *Blocks) Each(occasion uint64, rows int, write func(first, n int), out ...[]float32) error {
	for first := 0; first < rows; first += b.Rows {
		n := min(b.Rows, rows-first)
		write(first, n)
		if err := b.Run(occasion + uint64(first/b.Rows)); err != nil {
			return err
		}
		for i, to := range out {
			if width := len(b.Out[i]) / b.Rows; to != nil {
				copy(to[first*width:(first+n)*width], b.Out[i])
			}
		}
	}
	return nil
}

// Columns runs the program for rows rows of columns, one for each input.
func (b *Blocks) Columns(occasion uint64, rows int, in [][]float32, out ...[]float32) error {
	return b.Each(occasion, rows, func(first, n int) {
		for i, column := range in {
			b.Set(i, column, first, n)
		}
	}, out...)
}

// Set copies the n rows of a column that begin with row first to input i.
func (b *Blocks) Set(i int, column []float32, first, n int) {
	width := len(b.In[i]) / b.Rows
	copy(b.In[i], column[first*width:(first+n)*width])
}
