package allocs

import "testing"

var kept []byte

// What allocates always is found; what allocates once is not.
func TestLeast(t *testing.T) {
	if n := Least(10, func() { kept = make([]byte, 100) }); n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
	calls := 0
	if n := Least(1, func() {
		if calls++; calls == 2 { // the first one warms up
			kept = make([]byte, 100)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
