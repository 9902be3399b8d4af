package session

import (
	"errors"
	"testing"

	"pgrlab/tui/pane"
)

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
	if err := h.during(func() error { t.Error("the run is held"); return nil }); !errors.Is(err, pane.ErrNoForks) {
		t.Errorf("a hold after the last forks: %v", err)
	}
	h.begin()
	held := false
	if err := h.during(func() error { held = true; return nil }); err != nil || !held {
		t.Errorf("a hold while forks train: %v, %v", held, err)
	}
}
