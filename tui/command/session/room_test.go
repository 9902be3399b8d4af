package session

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/cost"
	"pgrlab/core/task"
	"pgrlab/presets"
)

// A run from pixels says how much memory its frames come to take; others say nothing of it.
func TestFramesInMemoryAreReported(t *testing.T) {
	on := task.Task{Name: "walker-walk", ObsSize: 24, ActSize: 6, EpisodeSteps: 1000}
	for _, c := range []struct {
		choice  presets.Choice
		members int
		want    []string
	}{
		{presets.Choice{Task: "walker-walk", Method: "drqv2", Scale: "paper"}, 1, []string{"in memory: frames take up to 2.0 GiB"}},
		{presets.Choice{Task: "walker-walk", Method: "drqv2", Scale: "paper"}, 3, []string{"in memory: frames take up to 5.9 GiB"}},
		{presets.Choice{Task: "walker-walk", Method: "sac", Scale: "paper"}, 1, nil},
	} {
		made, err := presets.Resolve(c.choice)
		if err != nil {
			t.Fatal(err)
		}
		made.Members = c.members
		if got := framesText(&made, on); !slices.Equal(got, c.want) {
			t.Errorf("%s with %d members: %q, want %q", made.Method, made.Members, got, c.want)
		}
	}
}

// A limit on the disk that a run will exceed, or that costs checkpoints, is reported before it begins.
func TestALimitOnTheDiskIsReported(t *testing.T) {
	const gib = 1 << 30
	need := cost.Disk{Checkpoint: gib / 4, Generation: gib / 4, Real: 2 * gib, Held: 2 * gib} // 2.5 GiB at least, 4 in all
	for _, c := range []struct {
		free, limit int64
		want        string // at the end
	}{
		{0, 0, "4.0 GiB in all"},
		{8 * gib, 5 * gib, "4.0 GiB in all"},
		{8 * gib, 3 * gib, "4.0 GiB in all: with --disk 3.0 GiB fewer than the last 3 checkpoints and the best may stay"},
		{8 * gib, 1 * gib, "4.0 GiB in all: --disk 1.0 GiB may be exceeded: the latest checkpoint and its data alone take up to 2.5 GiB in the end; only that one would stay"},
		{3 * gib, 1 * gib, "4.0 GiB in all: only 3.0 GiB are free"},
	} {
		if got := roomText(need, c.free, c.limit); !strings.HasSuffix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%d of %d: %q, want %q", c.limit, c.free, got, c.want)
		}
	}
}
