package replay

import (
	"testing"

	"pgrlab/core/rng"
)

// BenchmarkSample samples a mixed batch of quadruped-walk from two full rings; most rows are not in
// a cache.
func BenchmarkSample(b *testing.B) {
	s := Shape{Obs: 78, Act: 12}
	real, synthetic := NewRing(s, 200_000), NewRing(s, 200_000)
	rows := make([]float32, 1000*s.Width())
	for range 200 {
		real.AddRows(rows)
		synthetic.AddRows(rows)
	}
	m, batch := NewMixer(rng.New(1, "mix")), NewBatch(s, 256)
	occasion := uint64(0)
	for b.Loop() {
		occasion++
		if err := m.Sample(batch, Mix{Real: 128, Synthetic: 128}, real, synthetic, occasion); err != nil {
			b.Fatal(err)
		}
	}
}
