package ptx

import (
	"strings"
	"testing"
)

// BenchmarkGemm runs the tiled product on one worker; Minstr/s are millions of
// instructions of threads a second.
func BenchmarkGemm(b *testing.B) {
	for _, c := range []struct {
		name  string
		check Check
	}{{"plain", Check{}}, {"checked", Check{Races: true, Unwritten: true}}} {
		b.Run(c.name, func(b *testing.B) {
			const m, n, k = 128, 128, 96
			p := kernels(b, "basic_sm80.ptx")
			mem := NewMemory()
			params := Pack{}.Add(upload(b, mem, make([]float32, m*n)), 8).Add(upload(b, mem, floats(m*k, func(i int) float32 { return float32(i % 11) })), 8).
				Add(upload(b, mem, floats(k*n, func(i int) float32 { return float32(i % 7) })), 8).Add(upload(b, mem, make([]float32, n)), 8).Add(m, 4).Add(n, 4).Add(k, 4)
			throughput(b, p, mem, "gemm", Launch{Grid: [3]uint32{2, 2, 1}, Block: [3]uint32{256, 1, 1}, Params: params, Check: c.check})
		})
	}
}

// BenchmarkPipeline is the tensor-core kernel: cp.async and mma.
func BenchmarkPipeline(b *testing.B) {
	p := kernels(b, "tensor_sm80.ptx")
	mem := NewMemory()
	params := Pack{}.Add(upload(b, mem, make([]float32, 1024)), 8).Add(upload(b, mem, make([]float32, 32*256)), 8).Add(256, 4)
	throughput(b, p, mem, "gram_right", Launch{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{256, 1, 1}, Params: params})
}

// BenchmarkWarpgroup is m64n256k16 of bf16 by one warpgroup; us/wgmma is the time of one.
func BenchmarkWarpgroup(b *testing.B) {
	for _, c := range []struct {
		name  string
		check Check
	}{{"plain", Check{}}, {"checked", Check{Races: true, Unwritten: true}}} {
		b.Run(c.name, func(b *testing.B) {
			const products = 256
			body := wgmmaFence + strings.Repeat(product64("bf16", 256, descriptor(0), descriptor(8192), "%p2")+wgmmaEnd, products)
			m, err := Parse(warpgroupText("sm_90a", 10240, 128, 128, body))
			if err != nil {
				b.Fatal(err)
			}
			k, err := m.Kernel("k")
			if err != nil {
				b.Fatal(err)
			}
			mem := NewMemory()
			params := Pack{}.Add(upload(b, mem, make([]float32, 128*128)), 8).Add(upload(b, mem, floats(10240, func(i int) float32 { return float32(i%17) - 8 })), 8)
			for b.Loop() {
				if _, err := k.Launch(mem, Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Shared: 40960, Params: params, Check: c.check, Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/products, "us/wgmma")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkRowSum is a reduction with a barrier after every step.
func BenchmarkRowSum(b *testing.B) {
	p := kernels(b, "basic_sm80.ptx")
	mem := NewMemory()
	params := Pack{}.Add(upload(b, mem, make([]float32, 64)), 8).Add(upload(b, mem, make([]float32, 64*256)), 8)
	throughput(b, p, mem, "rowsum", Launch{Grid: [3]uint32{64, 1, 1}, Block: [3]uint32{256, 1, 1}, Shared: 1024, Params: params})
}

// BenchmarkDivergence lets lanes leave a loop at different times.
func BenchmarkDivergence(b *testing.B) {
	p := kernels(b, "basic_sm80.ptx")
	mem := NewMemory()
	throughput(b, p, mem, "collatz", Launch{Grid: [3]uint32{64, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: Pack{}.Add(upload(b, mem, make([]int32, 4096)), 8).Add(4096, 4)})
}

func throughput(b *testing.B, m *Module, mem *Memory, name string, l Launch) {
	b.Helper()
	k, err := m.Kernel(name)
	if err != nil {
		b.Fatal(err)
	}
	l.Workers = 1
	var count int64
	for b.Loop() {
		n, err := k.Launch(mem, l)
		if err != nil {
			b.Fatal(err)
		}
		count += n
	}
	b.ReportMetric(float64(count)/b.Elapsed().Seconds()/1e6, "Minstr/s")
	b.ReportMetric(0, "ns/op")
}
