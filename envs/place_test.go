package envs

import (
	"math"
	"testing"
)

// A step from a placed state is the step that was really made, up to the
// rounding of observations to float32, which contacts amplify.
func TestPlacedStatesStepAsTheRealOnes(t *testing.T) {
	needPhysics(t)
	env, err := cheetahRun.New(3)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	copyOf, err := cheetahRun.New(3)
	if err != nil {
		t.Fatal(err)
	}
	defer copyOf.Close()
	obs, next, got, action := make([]float32, 17), make([]float32, 17), make([]float32, 17), make([]float32, 6)
	if err := env.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	for step := range 200 {
		for i := range action {
			action[i] = float32(math.Sin(float64(step*(i+1)) * 0.3))
		}
		reward, _, _, err := env.Step(action, next)
		if err != nil {
			t.Fatal(err)
		}
		if err := copyOf.Place(obs); err != nil {
			t.Fatal(err)
		}
		again, _, _, err := copyOf.Step(action, got)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(reward-again) > 1e-5 {
			t.Fatalf("step %d: reward %v, really %v", step, again, reward)
		}
		for i := range got {
			if math.Abs(float64(got[i]-next[i])) > 1e-3 {
				t.Fatalf("step %d: observation %d is %v, really %v", step, i, got[i], next[i])
			}
		}
		obs, next = next, obs
	}
}

func TestPlaceRefusesWhatItCannotKnow(t *testing.T) {
	needPhysics(t)
	for _, c := range []struct {
		task Task
		size int
	}{{walkerWalk, 24}, {cheetahRun, 3}} {
		env, err := c.task.New(0)
		if err != nil {
			t.Fatal(err)
		}
		defer env.Close()
		if err := env.Place(make([]float32, c.size)); err == nil {
			t.Errorf("%s was placed by %d numbers", c.task.Name, c.size)
		}
	}
}
