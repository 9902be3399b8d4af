package runflags

import (
	"testing"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// What a maze's views are called chooses the observation, and the side of frames.
func TestObservations(t *testing.T) {
	d := cli.Deps{Tasks: []task.Task{{Name: "maze-sparse", TVs: []string{"off"}, Discrete: true, Seen: true}}}
	for text, want := range map[string]struct {
		observation string
		side        int
	}{"rays": {task.ObservationState, 0}, "state": {task.ObservationState, 0}, "pixels": {task.ObservationPixels, 42}, "rgb42": {task.ObservationPixels, 42}, "rgb84": {task.ObservationPixels, 84}} {
		r := Flags{Task: "maze-sparse", Method: "ppo", Scale: "short", Changed: func(string) bool { return false }}
		r.Environment.Observation = text
		c, _, err := r.resolve(d)
		if err != nil || c.Observation() != want.observation || want.side > 0 && c.Pixels.Side != want.side {
			t.Errorf("%s: %s with a side of %d, %v", text, c.Observation(), c.Pixels.Side, err)
		}
	}
}
