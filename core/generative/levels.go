package generative

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/generative/mlp"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// levels is what the served network makes of the noise levels of a generation. All rows of an
// evaluation have the same level, so that it is a few rows for each evaluation, made once; the
// evaluation under way reads its own from tensors.
type levels struct {
	program *plan.Blocks
	rows    [][]float32  // of every evaluation, for each tensor
	now     []*op.Tensor // of the evaluation under way, [·]
}

// levelRows is how many levels are embedded in one run: those of 16 noise levels have one evaluation less.
const levelRows = 32

func newLevels(n *mlp.Separated, dev device.Device) (*levels, error) {
	program, err := plan.NewBlocks("noise levels", levelRows, dev, func(g *op.Graph) (in []*op.Node, s plan.Spec) {
		t := g.Input("c_noise", levelRows, 1)
		return []*op.Node{t}, plan.Spec{Outputs: n.Level(g, t)}
	})
	if err != nil {
		return nil, fmt.Errorf("embed noise levels: %w", err)
	}
	l := &levels{program: program, rows: make([][]float32, len(program.Out))}
	for i, out := range program.Out {
		l.now = append(l.now, op.NewTensor(fmt.Sprintf("level%d", i), len(out)/levelRows))
	}
	return l, nil
}

// bind returns the rows of the evaluation under way.
func (l *levels) bind(g *op.Graph) []*op.Node {
	var rows []*op.Node
	for _, row := range l.now {
		rows = append(rows, g.Bind(row))
	}
	return rows
}

// embed makes the rows of evaluations at these noise levels.
func (l *levels) embed(sigmas []float64) error {
	t := make([]float32, len(sigmas))
	for i, sigma := range sigmas {
		t[i] = float32(noiseInput(sigma))
	}
	for i, row := range l.now {
		l.rows[i] = make([]float32, len(sigmas)*len(row.Data))
	}
	return l.program.Columns(0, len(sigmas), [][]float32{t}, l.rows...)
}

// at makes an evaluation the one under way.
func (l *levels) at(evaluation int, to place) {
	for i, row := range l.now {
		copy(to(row), l.rows[i][evaluation*len(row.Data):])
	}
}

// Close closes the program; it does nothing with nil levels.
func (l *levels) Close() error {
	if l == nil {
		return nil
	}
	return l.program.Close()
}
