package kernel

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestPreemption checks that the collector, which stops the world, finishes beside kernels in a
// loop: Go cannot interrupt assembly, only the functions between two calls of it. The time is
// meaningful only on a machine that does nothing else, where PGRLAB_SOAK=1 checks it; without those
// functions it would be seconds.
func TestPreemption(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		const n = 512
		a, b, c := randoms(n*n), randoms(n*n), randoms(n*n)
		var stop atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			for !stop.Load() {
				f.Gemm(n, n, n, a, n, 1, b, n, c, n, Epilogue{})
				f.Mish(c, a)
			}
		}()
		least := time.Hour
		for range 5 {
			start := time.Now()
			runtime.GC()
			least = min(least, time.Since(start))
		}
		stop.Store(true)
		<-done
		if t.Logf("the collector took %v at best", least); os.Getenv("PGRLAB_SOAK") != "" && least > 100*time.Millisecond {
			t.Errorf("the collector took %v at best", least)
		}
	})
}
