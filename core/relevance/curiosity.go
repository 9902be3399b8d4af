package relevance

import (
	"fmt"
	"math/bits"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// Score writes F of equation 5 (Wang et al. 2025) as ‖g(h(s), a) − h(s')‖²/H, like the released
// code. The paper writes ½‖·‖², which is PaperScale times that: the same condition after the
// generator's scaling, but 128 times the bonus or priority at H = 256. F of respawns is 0: see
// Respawns.
func (m *ICM) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := m.scoreRows(dst, b, rows); err != nil {
		return fmt.Errorf("relevance curiosity: %w", err)
	}
	m.config.mask(dst, b, rows)
	return nil
}

func (m *ICM) scoreRows(dst []float32, b *replay.Batch, rows int) error {
	if rows < 1 || 2*rows > m.config.ScoreRows {
		return m.inChunks(m.scoreProgram, m.score, m.config.ScoreRows, dst, 1, b, rows)
	}
	s, err := m.smallScore(1 << bits.Len(uint(rows-1)))
	if err != nil {
		return err
	}
	return m.inChunks(s.program, s.graph, s.rows, dst, 1, b, rows)
}

// smallScore is a program for fewer rows than ScoreRows: bonuses and priorities are computed for
// single batches.
type smallScore struct {
	graph   icmGraph
	program *plan.Program
	rows    int
}

func (m *ICM) smallScore(rows int) (*smallScore, error) {
	if s, ok := m.small[rows]; ok {
		return s, nil
	}
	s := &smallScore{rows: rows}
	var err error
	if s.graph, err = buildICM("curiosity score of a batch", m.net, rows, (*icmGraph).buildScore); err != nil {
		return nil, err
	}
	if s.program, err = plan.Compile(s.graph.graph, plan.Spec{Outputs: []*op.Node{s.graph.out}}, m.device); err != nil {
		return nil, err
	}
	m.small[rows] = s
	return s, nil
}

// PaperScale is H/2, the ratio of the paper's ½‖·‖² to the mean that Score writes.
func (m *ICM) PaperScale() float64 { return float64(m.config.Hidden) / 2 }

// PredictActions writes the inverse model's actions [rows, Act] for the
// observations and next observations of b, with the running statistics of the
// batch norms.
func (m *ICM) PredictActions(dst []float32, b *replay.Batch, rows int) error {
	if err := m.inChunks(m.inverseProgram, m.inverse, m.config.ScoreRows, dst, m.shape.Act, b, rows); err != nil {
		return fmt.Errorf("predict actions: %w", err)
	}
	return nil
}

// inChunks runs a program over transitions, chunk of them at a time; width is that of its output.
// Input rows after the last transition keep their previous contents.
func (m *ICM) inChunks(p *plan.Program, g icmGraph, chunk int, dst []float32, width int, b *replay.Batch, rows int) error {
	o, a := m.shape.Obs, m.shape.Act
	for first := 0; first < rows; first += chunk {
		n := min(chunk, rows-first)
		for _, in := range []struct {
			node  *op.Node
			data  []float32
			width int
		}{{g.obs, b.Obs, o}, {g.act, b.Act, a}, {g.next, b.Next, o}} {
			if in.node != nil {
				copy(p.Data(in.node), in.data[first*in.width:(first+n)*in.width])
			}
		}
		if err := p.Run(0); err != nil {
			return err
		}
		copy(dst[first*width:(first+n)*width], p.Data(g.out))
	}
	return nil
}
