package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/mirrortest"
)

// The peak is measured on the threads that compute, for every family, and stops when asked to.
// A device that is not a CPU has no peak.
func TestPeak(t *testing.T) {
	for _, family := range kernel.Available() {
		dev := cputest.New(t, cpu.Options{Threads: 2, Family: family})
		p, err := PeakOf(context.Background(), dev, time.Microsecond)
		if err != nil || p.Product <= 0 || p.Threads != dev.Threads() || (p.Registers > 0) != (family == "avx2" || family == "avx512") {
			t.Errorf("%s: %+v, %v", family, p, err)
		}
		if r := (Result{GFLOPS: p.Most() / 4}).Against(p); r.Share != 0.25 || r.Peak != p {
			t.Errorf("%s: %+v", family, r)
		}
		if want := map[bool]float64{true: p.Registers, false: p.Product}[p.Registers > 0]; p.Most() != want {
			t.Errorf("%s: the most is %g of %+v", family, p.Most(), p)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := PeakOf(ctx, dev, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", family, err)
		}
	}
	if p, err := PeakOf(context.Background(), mirrortest.New(cputest.New(t, cpu.Options{Threads: 1})), time.Hour); p != nil || err != nil {
		t.Errorf("a device that is no CPU: %+v, %v", p, err)
	}
}
