package kernel

import "testing"

// BenchmarkPeak measures the limit of one core: multiply-adds on registers alone.
func BenchmarkPeak(b *testing.B) {
	_, refused := probed()
	for name, x := range map[string]*machine{"avx2": avx2, "avx512": avx512} {
		b.Run(name, func(b *testing.B) {
			if why, ok := refused[name]; ok {
				b.Skip(why)
			}
			const n = 100_000
			ns := best(b, func() { x.peak(n) })
			b.ReportMetric(2*12*n*float64(x.lanes)/ns, "GFLOP/s")
		})
	}
}

// TestSelfCheck checks that a family with one wrong function is detected.
func TestSelfCheck(t *testing.T) {
	_, refused := probed()
	if why, ok := refused["avx2"]; ok {
		t.Skip(why)
	}
	wrong := *avx2
	if err := agrees(wrong.family("right")); err != nil {
		t.Fatal(err)
	}
	wrong.exp = avx2Log
	if agrees(wrong.family("wrong")) == nil {
		t.Error("a wrong exp was not found")
	}
	wrong = *avx2
	wrong.pairTail = append([]tileFunc(nil), avx2.pairTail...)
	wrong.pairTail[5] = avx2Tile4x2Tail
	if agrees(wrong.family("wrong")) == nil {
		t.Error("a wrong tile was not found")
	}
	wrong = *avx2
	wrong.normals = func(groups int, dst *float32, k0, k1 uint32, occasion, first uint64) {
		avx2Normals(groups, dst, k0, k1, occasion, first&(1<<34-1)) // without the block's upper word
	}
	if agrees(wrong.family("wrong")) == nil {
		t.Error("wrong draws were not found")
	}
}
