package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/lab"
	"pgrlab/core/offline"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/tiny"
)

// offlineRun returns a saved run of real parts, and a task that can be set to a state.
func offlineRun(t *testing.T) (s offline.Run, world task.Task) {
	t.Helper()
	return offlineRunOf(t, 60)
}

// offlineRunOf is offlineRun for as many env steps.
func offlineRunOf(t *testing.T, steps int) (s offline.Run, world task.Task) {
	t.Helper()
	c := tiny.Config()
	c.Steps = steps
	world = tiny.Task()
	return saved(t, c, world), world
}

// saved is a run of c that was made and saved.
func saved(t *testing.T, c config.Config, world task.Task) offline.Run {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
	dir := t.TempDir() + "/run"
	folder, err := run.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.New(context.Background(), c, world, dev, folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return offline.Run{Config: c, Dir: dir, Step: -1}
}

func refitOf(c config.Config) offline.RefitRequest {
	return offline.RefitRequest{OtherGenerator: offline.OtherGenerator{Generator: c.Generator}, OfflineRefit: inspect.OfflineRefit{Guidances: []float64{0, 2}, Rows: 40, HeldOut: 0.25}}
}

func refitted(t *testing.T, ctx context.Context, saved []offline.Run, task task.Task, r offline.RefitRequest) (all []*inspect.Refitted, err error) {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: 1, Family: "go"})
	err = offline.Refit(ctx, saved, task, dev, r, func(f *inspect.Refitted) error { all = append(all, f); return nil })
	return all, err
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRefitOffline(t *testing.T) {
	s, task := offlineRun(t)
	r := refitOf(s.Config)
	var stages []string
	now := time.Duration(0)
	r.Clock = func() time.Duration { now += time.Second; return now }
	r.Progress = func(p inspect.OfflineProgress) error {
		if len(stages) == 0 || stages[len(stages)-1] != p.Doing {
			stages = append(stages, p.Doing)
		}
		return nil
	}
	found, err := refitted(t, context.Background(), []offline.Run{s}, task, r)
	if err != nil {
		t.Fatal(err)
	}
	f := found[0]
	if f.Step != 60 || f.Relevance != "curiosity" || f.Fitted+f.HeldOut != 60 || f.HeldOut < 5 || f.Loss == nil || f.Steps != 12 || f.CPUs != 1 || f.Gaussian == nil || len(f.Made) != 2 {
		t.Errorf("%s", asText(t, f))
	}
	if want := []string{"score", "fit", "measure", "generate ω 0", "measure ω 0", "generate ω 2", "measure ω 2"}; !reflect.DeepEqual(stages, want) {
		t.Errorf("stages %q", stages)
	}
	for i, g := range f.Made {
		if float64(g.Guidance) != r.Guidances[i] || g.Rows != 40 || g.CPUs != 1 || g.Dynamics == nil || g.Dynamics.Rows != 40 || g.Relevant == nil || (g.Asked != nil) != (i == 1) || (g.RankCorrelation != nil) != (i == 1) {
			t.Errorf("ω %g: %s", r.Guidances[i], asText(t, g))
		}
	}
	again, err := refitted(t, context.Background(), []offline.Run{s}, task, r)
	if err != nil || asText(t, again) != asText(t, found) {
		t.Errorf("again: %v: %s", err, asText(t, again))
	}
}

// With init "previous" a generator starts from the refit before it, not from the run's generator;
// with "scratch" every refit starts again.
func TestRefitsOfflineInARow(t *testing.T) {
	s, task := offlineRun(t)
	r := refitOf(s.Config)
	r.Guidances = []float64{0}
	losses := func(init string) [2]float64 {
		r.Generator.Init = init
		found, err := refitted(t, context.Background(), []offline.Run{s, s}, task, r)
		if err != nil {
			t.Fatal(err)
		}
		return [2]float64{float64(*found[0].Loss), float64(*found[1].Loss)}
	}
	scratch, previous := losses("scratch"), losses("previous")
	if scratch[0] != previous[0] || scratch[1] == previous[1] {
		t.Errorf("losses from scratch %v, from the one before %v", scratch, previous)
	}
}

// Each refit generates with the policy of its own run, also if there is one generator for all.
func TestRefitsOfflineHaveTheirOwnPolicies(t *testing.T) {
	early, task := offlineRunOf(t, 40)
	late, _ := offlineRun(t)
	r := refitOf(late.Config)
	r.Guidances, r.Generator.Init = []float64{0}, "scratch"
	r.Generator.Actions, r.Generator.Outcomes = generative.ActionsPolicy, generative.OutcomesSimulator
	second := func(first offline.Run) string {
		found, err := refitted(t, context.Background(), []offline.Run{first, late}, task, r)
		if err != nil {
			t.Fatal(err)
		}
		return asText(t, found[1].Made)
	}
	if a, b := second(early), second(late); a != b {
		t.Errorf("after another run\n%s\nafter itself\n%s", a, b)
	}
}

func TestRefitOfflineEnds(t *testing.T) {
	s, task := offlineRun(t)
	why := errors.New("pressed a key")
	for _, stage := range []string{"fit", "generate ω 2", "measure ω 2"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		r := refitOf(s.Config)
		r.Progress = func(p inspect.OfflineProgress) error {
			if p.Doing == stage {
				cancel(why)
			}
			return nil
		}
		if found, err := refitted(t, ctx, []offline.Run{s}, task, r); !errors.Is(err, why) || found != nil {
			t.Errorf("while it does %s: %v", stage, err)
		}
	}
	for _, c := range []struct {
		change func(*offline.RefitRequest, *offline.Run)
		want   string
	}{
		{func(r *offline.RefitRequest, _ *offline.Run) {
			r.Generator.Kind, r.Generator.Conditional = config.GeneratorNone, false
		}, "has no generator"},
		{func(r *offline.RefitRequest, _ *offline.Run) { r.Set = map[string]string{"relevance": "rnd"} }, "which the run has not learned"},
		{func(r *offline.RefitRequest, _ *offline.Run) { r.HeldOut = 1 }, "held out"},
		{func(r *offline.RefitRequest, _ *offline.Run) { r.HeldOut = 0.001 }, "want at least"},
		{func(r *offline.RefitRequest, _ *offline.Run) { r.Generator.Blocks = 0 }, "blocks"},
		{func(_ *offline.RefitRequest, s *offline.Run) { s.Step = 7 }, "no checkpoint of step 7"},
	} {
		r, at := refitOf(s.Config), s
		c.change(&r, &at)
		if _, err := refitted(t, context.Background(), []offline.Run{at}, task, r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A saved run is examined as it was played: with its action repeat.
func TestASavedRunIsExaminedAsItWasPlayed(t *testing.T) {
	c := tiny.Config()
	c.Environment.ActionRepeat = 2
	played, world := tiny.Task(), tiny.Task()
	world.With = func(task.Environment) (task.Task, error) { return played, nil }
	played.With = world.With
	world.New = func(uint64) (task.Env, error) { return nil, errors.New("not as it was played") }
	s := saved(t, c, world)
	if _, err := offline.Examine(s, world, tiny.Device(t), inspect.Examination{Rows: 20, Points: 5}, nil); err != nil {
		t.Error(err)
	}
}
