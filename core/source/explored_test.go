package source

import (
	"reflect"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/envs/maze"
)

// unexplored is an environment that does not report how its episodes went.
type unexplored struct{ task.Env }

// An episode reports how it went in its maze, and an evaluation the mean over its copies. An
// environment that does not report this has no entry in the journal.
func TestExplored(t *testing.T) {
	m, _ := maze.Find("maze-sparse")
	env := m.New(maze.Training, 5)
	vec, err := m.NewVec(2, maze.Training, 5)
	if err != nil {
		t.Fatal(err)
	}
	obs, act := make([]float32, 2*maze.ObsSize), make([]float32, 2*maze.ActSize)
	act[0], act[maze.ActSize+8] = 1, 1 // the first copy moves forward, the second fires
	vec.Reset(0, obs)
	env.Reset(0, obs[:maze.ObsSize])
	for range 12 {
		if _, _, _, err := env.Step(act[:maze.ActSize], obs[:maze.ObsSize]); err != nil {
			t.Fatal(err)
		}
		if err := vec.Step(act, obs, make([]float64, 2), make([]bool, 2)); err != nil {
			t.Fatal(err)
		}
	}
	explorationOf := func(env task.Env) *event.Explored { w := newWorld(env); return w.exploration() }
	judge, err := NewJudge(Config{Copies: 2, Task: task.Task{NewVec: func(int, uint64) (task.VecEnv, error) { return vec, nil }}}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := explorationOf(env)
	if one == nil || one.Cells < 2 || !(one.Moved > 0.2 && one.Moved < 1) {
		t.Fatalf("an episode says %+v", one)
	}
	half := run.Float(0.5)
	if *one.OnSpot != 0 {
		t.Errorf("a walker is on the spot in %v of its actions", *one.OnSpot)
	}
	if got, want := judge.Explored(), (&event.Explored{Goals: one.Goals / 2, Cells: (one.Cells + 1) / 2, Moved: one.Moved / 2, OnSpot: &half}); !reflect.DeepEqual(got, want) {
		t.Errorf("the evaluation says %+v, want %+v", got, want)
	}
	if got := explorationOf(unexplored{env}); got != nil {
		t.Errorf("one that does not say has %+v", got)
	}
}
