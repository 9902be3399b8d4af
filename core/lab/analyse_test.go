package lab

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
)

// placedEnv can be set to a state; its physics adds 1 to t and keeps the reward.
type placedEnv struct{ worldEnv }

func (e *placedEnv) Place(obs []float32) error {
	e.now = slices.Clone(obs)
	return nil
}

func (e *placedEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	if e.w != nil {
		return e.worldEnv.Step(action, obs)
	}
	copy(obs, []float32{e.now[0] + action[0], e.now[1] + 1})
	return float64(e.now[0]), false, false, nil
}

// Every generation and every evaluation is described, and apart from these lines the run is the
// same.
func TestAnalysesAreLinesOfTheJournal(t *testing.T) {
	c := newWorld().config()
	_, plain := play(t, newWorld(), c)
	c.Evaluation.AnalysedRows = 8
	c.Schedule = []string{"20/generate:1:top_fraction=0.5"}
	l, _ := play(t, newWorld(), c)
	generated, steps := bodies[event.Generated](l)
	if !slices.Equal(steps, []int{20, 40}) {
		t.Fatalf("generations described at %v", steps)
	}
	for i, g := range generated {
		if g.Rows != 8 || g.Relevance != "curiosity" || g.Asked == nil || g.Achieved == nil || g.RankCorrelation == nil || g.Dynamics != nil {
			t.Errorf("%+v", g)
		}
		want := analysis.Summarise((&worldGenerator{scores: l.x.first().Generator.(*worldGenerator).scores}).PromptScores(l.x.synthesis.Generating, uint64(i), 8))
		if i == 1 && (float64(g.Asked.Median) != want.Median || float64(g.Asked.Max) != want.Max || float64(g.Asked.Mean) != want.Mean) {
			t.Errorf("asked for %+v, want %+v", g.Asked, want)
		}
	}
	if l.x.synthesis.Generating.TopFraction != 0.5 {
		t.Errorf("the last generation had %+v", l.x.synthesis.Generating)
	}
	bias, steps := bodies[event.QBias](l)
	if !slices.Equal(steps, []int{15, 30, 45, 60}) {
		t.Fatalf("bias at %v", steps)
	}
	// Copy i earns i+1 for 10(i+1) steps.
	want := 0.0
	for i := range 3 {
		want += float64(i+1) * (1 - math.Pow(0.99, 10*float64(i+1))) / 0.01 / 3
	}
	for _, b := range bias {
		if math.Abs(float64(b.Return)-want) > 1e-5 || math.Abs(float64(b.Q-b.Return-b.Bias)) > 1e-9 || !(b.Std > 0) {
			t.Errorf("%+v, want a return of %g", b, want)
		}
	}
	if bodies, _ := bodies[event.Generated](replayed(t, plain)); len(bodies) != 0 {
		t.Error("a run without analyses is described")
	}
}

// replayed plays the plain run again and returns the lab with its events.
func replayed(t *testing.T, plain *memoryFolder) *Lab {
	t.Helper()
	l, folder := play(t, newWorld(), newWorld().config())
	if folder.canonical(t) != plain.canonical(t) {
		t.Error("the plain run cannot be repeated")
	}
	return l
}

func TestAnalysedRunsGoOnFromEveryBorder(t *testing.T) {
	resumeEverywhere(t, 1, func(r record) *Lab {
		w := newWorld()
		c := w.config()
		c.Evaluation.AnalysedRows, c.Schedule = 5, busySchedule
		c.Schedule = append([]string{"20/generate:5:relevance=reward", "40/generate:6:samples=7!", "60/generate:4:relevance=td"}, c.Schedule...)
		return w.lab(t, c, r)
	})
}
