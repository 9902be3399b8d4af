package bench

import (
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
)

// Go cannot preempt assembly: with kernels called in a loop that never passes through an ordinary
// function, other goroutines waited for 4 to 54 seconds. A ticker and the garbage collector must
// get their turn while a large program trains. How soon they get it depends on the machine and its
// load, so only PGRLAB_SOAK=1, on a machine that does nothing else, requires what a screen needs.
// TestCallsOfAssemblyAreShort checks that no call of assembly is long.
func TestTrainingLetsOthersRun(t *testing.T) {
	lateP99, longestGC, ticks := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), 30
	if os.Getenv("PGRLAB_SOAK") != "" {
		lateP99, longestGC, ticks = 20*time.Millisecond, 100*time.Millisecond, 1000
	}
	dev := cputest.New(t, cpu.Options{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(dev.Threads() + 2))
	w, _ := Find(Workloads, "denoiser-1024")
	step, _, _, err := w.make(dev)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := step(i); err != nil {
				stopped <- err
				return
			}
		}
	}()
	collect, collected := make(chan struct{}, 1), make(chan time.Duration)
	go func() { // on its own goroutine, so that it does not delay the ticks
		longest := time.Duration(0)
		for range collect {
			start := time.Now()
			runtime.GC()
			longest = max(longest, time.Since(start))
		}
		collected <- longest
	}()
	var late []time.Duration
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for i := range ticks {
		sent := <-ticker.C
		late = append(late, time.Since(sent))
		if i%10 == 0 {
			select {
			case collect <- struct{}{}:
			default: // the previous collection is not done
			}
		}
	}
	close(collect)
	if took := <-collected; took > longestGC {
		t.Errorf("garbage collection took %v, want at most %v", took, longestGC)
	} else {
		t.Logf("the longest garbage collection took %v", took)
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	slices.Sort(late)
	t.Logf("ticks were %v late at the median, %v at most", late[len(late)/2], late[len(late)-1])
	if p99 := late[len(late)*99/100]; p99 > lateP99 {
		t.Errorf("a tick was %v late (99th percentile), want at most %v", p99, lateP99)
	}
}
