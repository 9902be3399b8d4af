package kernel

import "testing"

// BenchmarkPeak is the limit of one core: multiply-adds on registers alone.
func BenchmarkPeak(b *testing.B) {
	for name, x := range map[string]*machine{"avx2": avx2} {
		b.Run(name, func(b *testing.B) {
			const n = 100_000
			ns := best(b, func() { x.peak(n) })
			b.ReportMetric(2*12*n*float64(x.lanes)/ns, "GFLOP/s")
		})
	}
}
