package lab

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
)

// played returns a run of real parts at its end, still open.
func played(t *testing.T, c config.Config) *experiment {
	t.Helper()
	dev := testDevice(t)
	world := newWorld().task()
	world.New = func(seed uint64) (task.Env, error) { return &placedEnv{worldEnv{w: newWorld(), seed: seed}}, nil }
	l, err := New(context.Background(), c, world, dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if err := l.x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l.x
}

// examine examines the first member against a reference.
func examine(x *experiment, e inspect.Examination, reference *experiment) (*event.Examined, error) {
	var other *inspect.View
	if reference != nil {
		v := reference.views.of(reference.first())
		other = &v
	}
	out := &event.Examined{}
	return out, inspect.Finish(inspect.Examine(x.views.of(x.first()), e, other, out))
}

func TestExaminationOfARun(t *testing.T) {
	c := realConfig()
	x := played(t, c)
	c.Seed++
	other := played(t, c)
	got, err := examine(x, inspect.Examination{Rows: 20, Points: 30}, other)
	if err != nil {
		t.Fatal(err)
	}
	if got.Step != 26 || got.Relevance != "curiosity" || got.Real.Rows != 20 || got.Synthetic.Rows != 20 || got.Real.High != got.Synthetic.High {
		t.Errorf("%+v", got)
	}
	if g := got.Generated; g == nil || g.Rows != 20 || g.Asked == nil || g.Dynamics == nil || g.Dynamics.Rows != 20 || got.Gaussian == nil || got.DynamicsErrors.Rows != 20 {
		t.Errorf("generated %+v, Gaussian %+v", got.Generated, got.Gaussian)
	}
	if p := got.Projection; p == nil || len(p.Real) != 26 || len(p.Guided) != 30 || len(p.Free) != 30 || !(p.Overlap > 0 && p.Overlap <= 1) || !(p.Explained[0] >= p.Explained[1]) {
		t.Errorf("projection %+v", got.Projection)
	}
	if r := got.ReferenceF; r == nil || r.Relevance != "curiosity" || r.Step != 26 || *r.Real == *got.Real || !(r.TopOverlap >= 0) {
		t.Errorf("ruler %+v", got.ReferenceF)
	}
	// The run itself, taken as the reference, agrees with itself, and the examination has changed
	// nothing.
	again, err := examine(x, inspect.Examination{Rows: 20}, x)
	if err != nil {
		t.Fatal(err)
	}
	if again.ReferenceF.RankCorrelation != 1 || again.ReferenceF.TopOverlap != 1 || *again.Real != *got.Real || *again.ReferenceF.Real != *got.Real || again.Projection != nil {
		t.Errorf("%+v, %+v, %+v, %+v", again.ReferenceF, again.Real, got.Real, again.ReferenceF.Real)
	}
	none := realConfig()
	none.Knobs.Relevance, none.Steps = relevance.None, 13
	blank := played(t, none)
	if _, err := examine(x, inspect.Examination{Rows: 20}, blank); err == nil || !strings.Contains(err.Error(), "has learned none") {
		t.Errorf("a ruler without marks: %v", err)
	}
	if got, err := examine(blank, inspect.Examination{Rows: 5, Points: 5}, nil); err != nil || got.Real != nil || got.Generated.Asked != nil || got.Projection == nil {
		t.Errorf("without relevance: %+v, %v", got, err)
	}
}
