package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
)

const gib = 1 << 30

// resident returns this process's resident memory in bytes.
func resident(t *testing.T) float64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc: resident memory is not known here")
	}
	for _, line := range strings.Split(string(raw), "\n") {
		kb := 0.0
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb * 1024
		}
	}
	t.Fatal("no VmRSS in /proc/self/status")
	return 0
}

// SAC with a million transitions of 78 observed numbers stays below 1.5 GiB. The short form
// measures what a few transitions take on the heap and extrapolates; with PGRLAB_SOAK=1 all of them
// exist.
func TestMemoryOfSAC(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	train := func(transitions uint64) (keep func(uint64) error) {
		step, _, err := updateOf(dev, transitions)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(21) {
			if err := step(i); err != nil {
				t.Fatal(err)
			}
		}
		return step
	}
	if os.Getenv("PGRLAB_SOAK") != "" {
		step := train(1_000_000)
		used := resident(t)
		t.Logf("%.2f GiB resident", used/gib)
		if used > 1.5*gib {
			t.Errorf("%.2f GiB resident with 1M transitions, want at most 1.5", used/gib)
		}
		runtime.KeepAlive(step)
		return
	}
	heap := func(transitions uint64) float64 {
		step := train(transitions)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(step)
		return float64(m.HeapAlloc)
	}
	few, more := heap(1_000), heap(11_000)
	if whole := few + (more-few)*99.9; whole > 1.4*gib {
		t.Errorf("1M transitions would take %.2f GiB of heap, want at most 1.4", whole/gib)
	}
}

// A run with a generator at scale cpu, with 100,000 real and as many synthetic transitions, stays
// below 2.5 GiB.
func TestMemoryOfAWholeRun(t *testing.T) {
	if os.Getenv("PGRLAB_SOAK") == "" {
		t.Skip("a full-size generator on a chunk of 4,096 rows, a minute: PGRLAB_SOAK=1")
	}
	dev := cputest.New(t, cpu.Options{})
	synthetic := replay.NewRing(replay.Shape{Obs: obs, Act: act}, 100_000)
	row := make([]float32, replay.Shape{Obs: obs, Act: act}.Width())
	for range 100_000 {
		synthetic.AddRows(row)
	}
	var keep []func(uint64) error
	for _, build := range []func() (func(uint64) error, float64, error){
		func() (func(uint64) error, float64, error) { return updateOf(dev, 100_000) },
		func() (func(uint64) error, float64, error) { return icm(dev) },
		func() (func(uint64) error, float64, error) { return samplerOf(dev, 4096, 2) },
	} {
		step, _, err := build()
		if err != nil {
			t.Fatal(err)
		}
		if err := step(0); err != nil {
			t.Fatal(err)
		}
		keep = append(keep, step)
	}
	used := resident(t)
	t.Logf("%.2f GiB resident", used/gib)
	if used > 2.5*gib {
		t.Errorf("%.2f GiB resident, want at most 2.5", used/gib)
	}
	runtime.KeepAlive(keep)
	runtime.KeepAlive(synthetic)
}
