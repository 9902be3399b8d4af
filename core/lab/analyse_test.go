package lab

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/analysis"
	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
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

// Scores of one F are not judged by another: what the prompts of a generation asked for is described
// only while F is that of the generator's last fit.
func TestPromptsOfAnotherFAreUnknown(t *testing.T) {
	for _, c := range []struct {
		schedule []string
		want     string
	}{
		{[]string{"25:relevance=td", "30/evaluate:1:guidance=3!"}, "20 curiosity, 31 unknown, 40 td"},
		{[]string{"20/fit:4:relevance=td"}, "20 unknown, 40 td"},
		{[]string{"20/generate:1:relevance=td", "30/evaluate:1:guidance=3!"}, "20 unknown, 31 unknown, 40 td"},
	} {
		made := newWorld().config()
		made.Evaluation.AnalysedRows, made.Schedule = 8, c.schedule
		l, _ := play(t, newWorld(), made)
		if got := prompted(l); got != c.want {
			t.Errorf("%q: %s, want %s", c.schedule, got, c.want)
		}
		if newestF(l).Asked == nil {
			t.Errorf("%q: the last refit has no histogram of what was asked for", c.schedule)
		}
	}
	// Without a fit of its own the last generation is compared with the F of the fit before.
	made := newWorld().config()
	made.Schedule = []string{"50:relevance=td", "50:guidance=3!"}
	if l, _ := play(t, newWorld(), made); newestF(l).Of != "curiosity" || newestF(l).At != 40 || newestF(l).Asked == nil || newestF(l).Achieved == nil {
		t.Errorf("the last generation: %+v", newestF(l))
	}
}

// newestF is what the newest generation's line says of F.
func newestF(l *Lab) *event.RefitF {
	refits, _ := bodies[event.Refit](l)
	return refits[len(refits)-1].F
}

// prompted lists for each generation that is described the F that its prompts asked for.
func prompted(l *Lab) string {
	var all []string
	generated, steps := bodies[event.Generated](l)
	for i, g := range generated {
		name := "unknown"
		if g.Asked != nil {
			name = g.Relevance
		}
		all = append(all, fmt.Sprintf("%d %s", steps[i], name))
	}
	return strings.Join(all, ", ")
}

// A fork under a new seed cannot draw the prompts of what its parent generated again.
func TestAForkDoesNotKnowItsParentsPrompts(t *testing.T) {
	c := newWorld().config()
	c.Evaluation.AnalysedRows = 8
	top := t.TempDir()
	diskRun(t, c, filepath.Join(top, "parent"), 0)
	found, err := run.Checkpoints(filepath.Join(top, "parent"))
	if err != nil {
		t.Fatal(err)
	}
	under := 0
	for i, from := range found {
		var at knob.Position
		if err := at.UnmarshalText([]byte(from.Position)); err != nil {
			t.Fatal(err)
		}
		for _, seed := range []uint64{7, 8} {
			c.Seed = seed
			dir := filepath.Join(top, fmt.Sprint(i, seed))
			if _, err := checkpoint.Fork(c, docOf(c), from, nil, dir); err != nil {
				t.Fatal(err)
			}
			l, _, err := restored(t, c, dir)
			if err != nil {
				t.Fatal(err)
			}
			if asked := l.x.synthesis.Asked; asked.OtherSeed != (seed == 8) {
				t.Errorf("seed %d, forked at %s: D_syn was prompted with %+v", seed, at, asked)
			}
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, want := prompted(l), "40 curiosity"
			if at.Phase == knob.Generate && at.I > 0 {
				if under++; seed == 8 {
					want = fmt.Sprintf("%d unknown", at.Step)
				}
			}
			if !strings.HasSuffix(got, want) && !strings.Contains(got, want+", ") && at.Step < 41 {
				t.Errorf("seed %d, forked at %s: prompts of %s, want %s", seed, at, got, want)
			}
			if strings.Contains(got, "unknown") != strings.Contains(want, "unknown") {
				t.Errorf("seed %d, forked at %s: prompts of %s", seed, at, got)
			}
		}
	}
	if under == 0 {
		t.Error("no fork was made within a generation")
	}
}
