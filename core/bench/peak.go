package bench

import (
	"context"
	"math"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/rng"
)

// Peak is the highest arithmetic rate of a CPU, on as many threads as compute.
type Peak struct {
	// Product is the rate, in GFLOP/s, of the kernels' best product of 256×256×256 on one thread,
	// times the number of threads.
	Product float64 `json:"product_gflops"`
	// Registers is likewise the rate of multiply-adds on registers alone; 0 if the kernels have no
	// such loop.
	Registers float64 `json:"register_gflops,omitempty"`
	Threads   int     `json:"threads"`
}

// Most is the rate that workloads are measured against: multiply-adds on registers or, if the
// kernels have no such loop, their best product.
func (p *Peak) Most() float64 {
	if p.Registers > 0 {
		return p.Registers
	}
	return p.Product
}

// PeakOf measures a CPU's kernels, for about the time each per kernel. It returns nil for other
// devices.
func PeakOf(ctx context.Context, dev device.Device, each time.Duration) (*Peak, error) {
	cpu, ok := dev.(interface {
		Kernels() *kernel.Family
		Threads() int
	})
	if !ok {
		return nil, nil
	}
	f, threads := cpu.Kernels(), cpu.Threads()
	const n = 256
	a, b, c := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	s := rng.New(1, "peak")
	s.FillNormal(a, 0, 0)
	s.FillNormal(b, 1, 0)
	product, err := best(ctx, each, func() float64 {
		f.Gemm(n, n, n, a, n, 1, b, n, c, n, kernel.Epilogue{})
		return 2 * n * n * n
	})
	if err != nil {
		return nil, err
	}
	registers, err := best(ctx, each, func() float64 { return 2 * float64(f.MultiplyAdds(1<<20)) })
	return &Peak{Product: product * float64(threads), Registers: registers * float64(threads), Threads: threads}, err
}

// best returns the highest rate, in GFLOP/s, of calls that return their number of operations. The
// mean would include the load of other users of the machine.
func best(ctx context.Context, each time.Duration, call func() (flops float64)) (rate float64, err error) {
	call()
	for start, i := time.Now(), 0; i < 3 || time.Since(start) < each; i++ {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		begin := time.Now()
		flops := call()
		if took := time.Since(begin); took > 0 {
			rate = math.Max(rate, flops/float64(took.Nanoseconds()))
		}
	}
	return rate, nil
}
