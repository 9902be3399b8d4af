package run

import (
	"slices"
	"testing"
)

// Names of checkpoints sort in the order of their positions, as text and by their numbers.
func TestNamesOfCheckpointsSort(t *testing.T) {
	var names []string
	for _, position := range []string{
		"20/model:0", "20/model:10", "20/rollout:3", "20/learn:1", "20/learn:12", "20/encode:2", "20/reach:1", "20/score:1", "20/fit:9", "20/fit:10", "20/generate:0", "20/evaluate:5", "20/analyse:0", "20",
	} {
		names = append(names, CheckpointName(20, position))
	}
	names = append(names, CheckpointName(21, "21/rollout:0"))
	if !slices.IsSorted(names) || !slices.IsSortedFunc(names, inOrder) {
		t.Errorf("out of order: %q", names)
	}
}
