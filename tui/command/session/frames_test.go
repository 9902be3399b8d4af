package session

import (
	"slices"
	"testing"

	"pgrlab/core/task"
	"pgrlab/presets"
)

// A run from pixels says how much memory its frames come to take; others say nothing of it.
func TestFramesInMemoryAreTold(t *testing.T) {
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
