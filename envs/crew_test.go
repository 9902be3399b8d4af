package envs

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Every part of every job is done once, before run returns, with helpers that keep up, that sleep
// in between, and that outnumber the parts.
func TestACrewDoesEveryPartOnce(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		for _, parts := range []int{1, 2, 7} {
			var done [7]atomic.Int64
			c := newCrew(helpers, parts, func(part int) {
				for range part * 50 {
					runtime.Gosched()
				}
				done[part].Add(1)
			})
			for round := range int64(300) {
				c.run()
				for part := range parts {
					if got := done[part].Load(); got != round+1 {
						t.Fatalf("%d helpers, job %d: part %d of %d was done %d times, want %d", helpers, round, part, parts, got, round+1)
					}
				}
				if round%100 == 50 { // until a helper sleeps
					for _, h := range c.helpers {
						for !h.asleep.Load() {
							runtime.Gosched()
						}
					}
				}
			}
			c.close()
		}
	}
}
