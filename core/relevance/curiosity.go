package relevance

import (
	"fmt"

	"pgrlab/core/replay"
)

// Score writes F of equation 5 (Wang et al. 2025) as ‖g(h(s), a) − h(s')‖²/H, like the released
// code. The paper writes ½‖·‖², which is PaperScale times that: the same condition after the
// generator's scaling, but 128 times the bonus or priority at H = 256. F of respawns is 0: see
// skipsRespawns.
func (m *ICM) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := m.trainer.Score(dst, b, rows); err != nil {
		return err
	}
	maskRespawns(dst, b, rows)
	return nil
}

// PaperScale is H/2, the ratio of the paper's ½‖·‖² to the mean that Score writes.
func (m *ICM) PaperScale() float64 { return float64(m.config.Hidden) / 2 }

// PredictActions writes the inverse model's actions [rows, Act] for the
// observations and next observations of b, with the running statistics of the
// batch norms.
func (m *ICM) PredictActions(dst []float32, b *replay.Batch, rows int) error {
	s, err := m.inverse.Of(m.config.ScoreRows)
	if err == nil {
		err = s.Each(0, rows, func(first, n int) { s.set(b, first, n) }, dst)
	}
	if err != nil {
		return fmt.Errorf("predict actions: %w", err)
	}
	return nil
}
