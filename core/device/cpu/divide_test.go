package cpu

import (
	"runtime"
	"testing"
)

// The parts of a device share all of its workers, are the same for all callers, and end with the
// device.
func TestWorkersAreDivided(t *testing.T) {
	before := runtime.NumGoroutine()
	d, err := New(Options{Threads: 7})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]int{1: {7}, 2: {4, 3}, 3: {3, 2, 2}, 7: {1, 1, 1, 1, 1, 1, 1}, 8: nil, 0: nil} {
		parts := d.Divide(n)
		if len(parts) != len(want) {
			t.Fatalf("%d parts: %d", n, len(parts))
		}
		for i, p := range parts {
			if p.(*Device).Workers() != want[i] || p != d.Divide(n)[i] {
				t.Errorf("part %d of %d has %d workers, want %d", i, n, p.(*Device).Workers(), want[i])
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for runtime.NumGoroutine() > before { // they end once they are scheduled
		runtime.Gosched()
	}
}
