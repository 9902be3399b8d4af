package program

import (
	"slices"
	"testing"

	"pgrlab/core/task"
	"pgrlab/envs/maze"
)

// Agents learn in the mazes of the training split and are evaluated in those of the other one, with the
// TV that was asked for. What a maze cannot be is refused in one line.
func TestMazesAreSplit(t *testing.T) {
	for _, m := range maze.Tasks() {
		of := mazeOf(m)
		first := func(reset func(uint64, []float32) error) []float32 {
			t.Helper()
			obs := make([]float32, of.ObsSize)
			if err := reset(3, obs); err != nil {
				t.Fatal(err)
			}
			return obs
		}
		env, err := of.New(7)
		if err != nil {
			t.Fatal(err)
		}
		tests, err := of.NewVec(1, 7)
		if err != nil {
			t.Fatal(err)
		}
		learned, judged := first(env.Reset), first(tests.Reset)
		train, test := first(m.New(maze.Training, 7).Reset), first(m.New(maze.Test, 7).Reset)
		if slices.Equal(train, test) {
			t.Fatalf("%s: the two splits have the same maze", m.Name)
		}
		if !slices.Equal(learned, train) || !slices.Equal(judged, test) {
			t.Errorf("%s: learns in the training split: %v, is judged in the other: %v", m.Name, slices.Equal(learned, train), slices.Equal(judged, test))
		}
		noisy, err := of.With(task.Environment{TV: "noise"})
		if err != nil {
			t.Fatal(err)
		}
		if env, err = noisy.New(7); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(first(env.Reset), train) {
			t.Errorf("%s: a TV shows nothing", m.Name)
		}
		for _, e := range []task.Environment{{ActionRepeat: 2}, {NoiseShare: 0.1}, {TV: "snow"}} {
			if _, err := of.With(e); err == nil {
				t.Errorf("%s: %+v is taken", m.Name, e)
			}
		}
	}
}
