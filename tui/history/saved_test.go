package history

import (
	"testing"

	"pgrlab/core/event"
)

// Of checkpoints that only save, the newest has a line; what went wrong with one stays.
func TestOnlyTheNewestSaveHasALine(t *testing.T) {
	h := New(0, 0)
	for i, o := range []event.CheckpointObs{{Bytes: 1}, {Error: "no space"}, {Bytes: 2}, {Limited: "older ones are gone"}, {Bytes: 3}} {
		h.Take(event.Event{Index: i, Step: i, Member: event.NoMember, Body: event.Checkpointed{Obs: o}})
	}
	var steps []int
	for _, l := range h.Lines {
		steps = append(steps, l.Step)
	}
	if len(steps) != 3 || steps[0] != 1 || steps[1] != 3 || steps[2] != 4 {
		t.Errorf("lines of steps %v, want 1, 3 and 4", steps)
	}
}
