package relevance

import (
	"fmt"
	"math"

	"pgrlab/core/replay"
)

// tdSigned is F = r + γ(1−d)·Q̄(s', π(s')) − Q(s,a).
type tdSigned struct{ values Values }

func (tdSigned) Name() string { return "td-signed" }

func (f tdSigned) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := f.values.TDError(dst[:rows], b, rows); err != nil {
		return fmt.Errorf("relevance td: %w", err)
	}
	return nil
}

// tdError is the absolute value of tdSigned.
type tdError struct{ values Values }

func (tdError) Name() string { return "td" }

func (f tdError) Score(dst []float32, b *replay.Batch, rows int) error {
	if err := tdSigned(f).Score(dst, b, rows); err != nil {
		return err
	}
	for i, delta := range dst[:rows] {
		dst[i] = float32(math.Abs(float64(delta)))
	}
	return nil
}
