package generative

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// levels is what the served network makes of the noise levels of a generation. All rows of an
// evaluation have the same level, so that it is a row for each evaluation, made once; the evaluation
// under way reads its own from a tensor.
type levels struct {
	program *plan.Blocks
	rows    []float32  // of every evaluation
	now     *op.Tensor // of the evaluation under way, [·]
}

// levelRows is how many levels are embedded in one run: those of 16 noise levels have one evaluation less.
const levelRows = 32

func newLevels(a *separated, dev device.Device) (*levels, error) {
	program, err := plan.NewBlocks("noise levels", levelRows, dev, func(g *op.Graph) (in []*op.Node, s plan.Spec) {
		t := g.Input("c_noise", levelRows, 1)
		return []*op.Node{t}, plan.Spec{Outputs: []*op.Node{a.level(g, t)}}
	})
	if err != nil {
		return nil, fmt.Errorf("embed noise levels: %w", err)
	}
	return &levels{program: program, now: op.NewTensor("level", len(program.Out[0])/levelRows)}, nil
}

// embed makes the rows of evaluations at these noise levels.
func (l *levels) embed(sigmas []float64) error {
	t := make([]float32, len(sigmas))
	for i, sigma := range sigmas {
		t[i] = float32(noiseInput(sigma))
	}
	l.rows = make([]float32, len(sigmas)*len(l.now.Data))
	return l.program.Columns(0, len(sigmas), [][]float32{t}, l.rows)
}

// at makes an evaluation the one under way.
func (l *levels) at(evaluation int) { copy(l.now.Data, l.rows[evaluation*len(l.now.Data):]) }

// Close closes the program; it does nothing with nil levels.
func (l *levels) Close() error {
	if l == nil {
		return nil
	}
	return l.program.Close()
}
