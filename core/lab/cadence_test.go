package lab

import (
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/task"
)

// A run with regular examinations writes them in addition to what it writes without them.
func TestExaminationsByCadence(t *testing.T) {
	c := newWorld().config()
	plain, _ := play(t, newWorld(), c)
	c.Evaluation.AnalyseEvery = 20
	l, _ := play(t, newWorld(), c)
	examined, steps := bodies[*event.Examined](l)
	if !slices.Equal(steps, []int{20, 40, 60}) {
		t.Fatalf("examined at %v", steps)
	}
	for i, e := range examined {
		if e.Step != steps[i] || e.Relevance != "curiosity" || e.Real == nil || e.Generated == nil || e.Projection == nil {
			t.Errorf("%+v", e)
		}
	}
	_, want := bodies[event.Evaluated](plain)
	if _, got := bodies[event.Evaluated](l); !slices.Equal(got, want) {
		t.Errorf("evaluated at %v, without examinations at %v", got, want)
	}
	a, _ := bodies[event.Evaluated](plain)
	b, _ := bodies[event.Evaluated](l)
	for i := range a {
		if a[i].ReturnMean != b[i].ReturnMean {
			t.Errorf("evaluation %d: %v, without examinations %v", i, b[i].ReturnMean, a[i].ReturnMean)
		}
	}
}

// The result of an examination does not depend on knobs that are turned during it, or on whether
// the run was interrupted in the middle of it.
func TestAnExaminedRunGoesOnFromEveryBorder(t *testing.T) {
	resumeEverywhere(t, 23, func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Members, c.Evaluation.AnalyseEvery = 2, 15
		c.Schedule = append([]string{"15/analyse:1:relevance=reward", "30/analyse:2:guidance=0.5"}, busySchedule...)
		return w.lab(t, c, r)
	})
}

// twoWorlds is the scripted world with a physics that can be set to a state.
type twoWorlds struct {
	worldEnv
	placed []float32
}

func (e *twoWorlds) Place(obs []float32) error {
	e.placed = slices.Clone(obs)
	return nil
}

func (e *twoWorlds) Step(action, obs []float32) (float64, bool, bool, error) {
	if e.placed == nil {
		return e.worldEnv.Step(action, obs)
	}
	copy(obs, []float32{e.placed[0] + action[0], e.placed[1] + 1})
	return float64(e.placed[0]), false, false, nil
}

func TestAnExaminedRunOfRealPartsGoesOn(t *testing.T) {
	dev := testDevice(t)
	c := realConfig()
	c.Evaluation.AnalyseEvery = 13
	c.Schedule = []string{"13/analyse:2:relevance=td", "26/analyse:3:guidance=0.5"}
	world := newWorld().task()
	world.New = func(seed uint64) (task.Env, error) {
		return &twoWorlds{worldEnv: worldEnv{w: newWorld(), seed: seed}}, nil
	}
	resumeEverywhere(t, 137, func(r record) *Lab {
		p, err := newParts(&c, world, dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, world, r, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}
