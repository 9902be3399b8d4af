package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"pgrlab/core/testing/racing"
)

// Two workers that take shares of the same segments at the same time obtain each share once. On one core
// they hardly meet, and this proves little.
func TestAShareIsTakenOnce(t *testing.T) {
	const workers, parts = 2, 256
	p := newPool(1, parts)
	defer p.close()
	segments := racing.Few(400, 40)
	var arrived atomic.Int64
	var obtained [workers]int
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			runtime.LockOSThread() // as helpers do
			for segment := range segments {
				arrived.Add(1)
				for spins := 1; arrived.Load() < int64(workers*(segment+1)); spins++ {
					p.pause(spins)
				}
				for place := range Lanes * parts {
					if p.take(place, pack(1, segment)) {
						obtained[worker]++
					}
				}
			}
		})
	}
	all.Wait()
	if got, want := obtained[0]+obtained[1], segments*Lanes*parts; got != want {
		t.Errorf("%d shares were taken (%v), there are %d", got, obtained, want)
	}
}
