package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgrlab/core/rng"
)

func randoms(n int) []float32 {
	return fence(n, 0).normal(rand.New(rand.NewPCG(3, uint64(n)))).data
}

// BenchmarkGemm reports GFLOP/s of C[m×n] = A[m×k]·B[k×n]; NN has the
// operands as they lie, TN and NT the transpose of A or B. The arithmetic limit is in BenchmarkPeak.
func BenchmarkGemm(b *testing.B) {
	shapes := []struct{ m, k, n int }{
		{256, 256, 256}, {128, 256, 256}, {256, 90, 256}, {256, 256, 90}, {90, 256, 256}, {256, 1024, 1024}, {2048, 1024, 1024}, {2048, 256, 256}, {128, 256, 12},
		{256, 17, 256}, {256, 1, 256}, {1, 256, 256}, {1, 78, 256}, {2, 256, 256}, {3, 256, 256}, {13, 256, 256}, {256, 256, 6},
	}
	families, _ := probed()
	for _, f := range families {
		for _, s := range shapes {
			for _, kind := range []string{"NN", "TN", "NT"} {
				b.Run(fmt.Sprintf("%s/%dx%dx%d/%s", f.name, s.m, s.k, s.n, kind), func(b *testing.B) {
					a, w, c := randoms(s.m*s.k), randoms(s.k*s.n), randoms(s.m*s.n)
					ars, aks := s.k, 1
					if kind == "TN" {
						ars, aks = 1, s.m
					}
					ns := best(b, func() {
						if kind == "NT" {
							f.GemmBT(s.m, s.n, s.k, a, ars, aks, w, s.k, c, s.n, Epilogue{})
						} else {
							f.Gemm(s.m, s.n, s.k, a, ars, aks, w, s.n, c, s.n, Epilogue{})
						}
					})
					b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)/ns, "GFLOP/s")
				})
			}
		}
	}
}

func BenchmarkVector(b *testing.B) {
	const n = 256 * 256
	families, _ := probed()
	for _, f := range families {
		x, y, z, src := randoms(n), randoms(n), randoms(n), make([]byte, n)
		for _, k := range unaryKernels(f) {
			b.Run(f.name+"/"+k.name, func(b *testing.B) {
				b.ReportMetric(best(b, func() { k.call(z, x) })/n, "ns/elem")
			})
		}
		for _, k := range binaryKernels(f) {
			b.Run(f.name+"/"+k.name, func(b *testing.B) {
				b.ReportMetric(best(b, func() { k.call(z, x, y) })/n, "ns/elem")
			})
		}
		others := map[string]func(){
			"Transpose":      func() { f.Transpose(256, 256, x, 256, z, 256) },
			"Transpose90":    func() { f.Transpose(90, 256, x, 256, z, 90) },
			"RowDot":         func() { f.RowDot(256, 256, x, 256, y, 1, z, 1) },
			"ColSum":         func() { f.ColSum(256, 256, x, 256, z) },
			"SumSquares":     func() { f.SumSquares(x, y) },
			"SumSquaredDiff": func() { f.SumSquaredDiff(x, y) },
			"Normals":        func() { f.Normals(z, rng.New(1, "bench"), 1, 0) },
			"FromBytes":      func() { f.FromBytes(z, src, -0.5) },
		}
		for name, call := range others {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				b.ReportMetric(best(b, func() { call() })/n, "ns/elem")
			})
		}
	}
}

func BenchmarkAdam(b *testing.B) {
	const n = 89089 // parameters of a critic 90-256-256-1
	families, _ := probed()
	for _, f := range families {
		b.Run(f.name+"/dormant", func(b *testing.B) {
			w, m, v, g := randoms(n), make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range m {
				m[i], v[i] = 1e-41, 1e-41
			}
			h := AdamStep{Beta1: 0.9, Beta2: 0.999, Step: 3e-4, InvSqrtC2: 1.1, Eps: 1e-8, GradScale: 1}
			b.ReportMetric(best(b, func() { f.Adam(w, m, v, g, nil, &h) })/n, "ns/elem")
		})
		b.Run(f.name, func(b *testing.B) {
			w, m, v, g0, g1 := randoms(n), randoms(n), make([]float32, n), randoms(n), randoms(n)
			h := AdamStep{Beta1: 0.9, Beta2: 0.999, Step: 3e-4, InvSqrtC2: 1.1, Eps: 1e-8, GradScale: 1}
			b.ReportMetric(best(b, func() { f.Adam(w, m, v, g0, g1, &h) })/n, "ns/elem")
		})
	}
}

// best returns the time of one call in ns, the least over the rounds of the benchmark: on a shared
// machine the mean measures the neighbours. A round repeats the call for about 50 µs, since the
// clock is coarse.
func best(b *testing.B, call func()) float64 {
	start := time.Now()
	call()
	repeat := 1 + int(50*time.Microsecond/(time.Since(start)+1))
	least := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		for range repeat {
			call()
		}
		least = min(least, float64(time.Since(start))/float64(repeat))
	}
	return least
}
