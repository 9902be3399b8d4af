package session

import "testing"

// The run is held until the last forks are over, also if others were made meanwhile.
func TestAHoldEndsWithTheLastForks(t *testing.T) {
	var h holds
	ends := 0
	last := func() { ends++ }
	h.begin()
	h.begin()
	if h.end(last); ends != 0 {
		t.Fatal("the end of the first forks ends the hold for the others")
	}
	h.begin()
	h.end(last)
	if h.end(last); ends != 1 {
		t.Fatalf("the hold ends %d times", ends)
	}
}
