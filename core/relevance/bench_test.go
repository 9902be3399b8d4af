package relevance

import (
	"fmt"
	"testing"

	"pgrlab/core/replay"
)

// Updates and scores on cheetah-run's 17 observations and 6 actions, at the widths
// that presets use.
func BenchmarkICM(b *testing.B) {
	for _, hidden := range []int{64, 128, 256} {
		c := DefaultICM()
		c.Hidden = hidden
		m := newICMFor(b, c, replay.Shape{Obs: 17, Act: 6})
		fillBatch(m.Batch(), 1)
		b.Run(fmt.Sprintf("train/%d", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Train(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("score a batch of 256/%d", hidden), func(b *testing.B) {
			dst := make([]float32, 256)
			for b.Loop() {
				if err := m.Score(dst, m.Batch(), 256); err != nil {
					b.Fatal(err)
				}
			}
		})
		const rows = 4096
		batch := replay.NewBatch(replay.Shape{Obs: 17, Act: 6}, rows)
		fillBatch(batch, 2)
		dst := make([]float32, rows)
		b.Run(fmt.Sprintf("score 4096/%d", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Score(dst, batch, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Steady updates and scores allocate nothing.
func TestNoAllocations(t *testing.T) {
	m := newICM(t, smallICM(ResidualShared))
	fillBatch(m.Batch(), 1)
	dst := make([]float32, m.config.Batch)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		if err := m.Score(dst, m.Batch(), m.config.Batch); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an update and score", n)
	}
}
