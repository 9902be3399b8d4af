package run

import (
	"os"
	"path/filepath"
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

// Of two checkpoints of one position the newer one comes first, whatever an older version called the
// other.
func TestTheNewerCheckpointOfAPositionComesFirst(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, made := range []string{"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"} {
		c := sample(20, "20/reach:1")
		c.Time = made
		path, _, err := f.WriteCheckpoint(c)
		if err == nil && made < "2026-01-02" {
			err = os.Rename(path, filepath.Join(filepath.Dir(path), "000000020-reach-0000001.ckpt"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if all, err := Checkpoints(f.Dir()); err != nil || len(all) != 2 || all[0].Time != "2026-01-02T00:00:00Z" {
		t.Errorf("%+v, %v", all, err)
	}
}
