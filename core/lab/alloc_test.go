package lab

import (
	"context"
	"testing"

	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// A training step of the loop around the agent allocates nothing.
func TestAStepDoesNotAllocate(t *testing.T) {
	dev := testDevice(t)
	c := realConfig()
	c.Steps, c.Evaluation.Every, c.Knobs.RefitEvery = 1<<29, 0, 1<<20
	world := newWorld().task()
	world.New = func(uint64) (task.Env, error) { return &stillEnv{}, nil }
	l, err := New(context.Background(), c, world, dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x := l.x
	x.published = x.now().AddDate(1, 0, 0) // snapshots are limited by time
	step := func() {
		if err := x.control.applyPending(t.Context(), knob.After(x.Step)); err != nil {
			t.Fatal(err)
		}
		x.begin(x.Step + 1)
		if err := x.collect(); err != nil {
			t.Fatal(err)
		}
		if err := x.trainAgents(); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n > 0 {
		t.Errorf("%g allocations in an env step", n)
	}
}

// stillEnv never ends and never moves.
type stillEnv struct{ worldEnv }

func (stillEnv) Reset(uint64, []float32) error { return nil }
func (stillEnv) Step(_, _ []float32) (float64, bool, bool, error) {
	return 1, false, false, nil
}
