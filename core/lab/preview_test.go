package lab

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
)

// previewed plays a run of w and sends commands before env steps.
func previewed(t *testing.T, w *world, c config.Config, at map[int][]event.Command) (*Lab, *memoryFolder) {
	t.Helper()
	folder := &memoryFolder{}
	l := w.lab(t, c, folder)
	step := 0
	w.on("step", func() {
		step++
		for _, command := range at[step] {
			if err := l.Send(command); err != nil {
				t.Error(err)
			}
		}
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l, folder
}

// look returns the answer to one preview that is sent before env step step.
func look(t *testing.T, c config.Config, step int, p event.Preview) event.Previewed {
	t.Helper()
	l, _ := previewed(t, newWorld(), c, map[int][]event.Command{step: {p}})
	answers, _ := answersOf(l)
	if len(answers) != 1 {
		t.Fatalf("%+v: %d answers", p, len(answers))
	}
	return answers[0]
}

// answersOf are the last parts of the answers to previews.
func answersOf(l *Lab) (all []event.Previewed, steps []int) {
	found, at := bodies[event.Previewed](l)
	for i, p := range found {
		if !p.More {
			all, steps = append(all, p), append(steps, at[i])
		}
	}
	return all, steps
}

func TestPreviewOfAGeneration(t *testing.T) {
	p := look(t, newWorld().config(), 30, event.Preview{ID: "a", Knob: "guidance", Value: "3.0"})
	if p.ID != "a" || p.Knob != "guidance" || p.Value != "3" || p.Relevance != "curiosity" || p.Err != "" {
		t.Errorf("%+v", p)
	}
	// Real F is that of the refit at step 20, as is D_syn.
	if p.Real == nil || p.Real.Rows != 20 || p.Synthetic == nil || p.Synthetic.Rows != 12 || p.Preview == nil || p.Preview.Rows != 128 {
		t.Errorf("histograms: real %+v, synthetic %+v, preview %+v", p.Real, p.Synthetic, p.Preview)
	}
	if p.Real.Low != p.Preview.Low || p.Real.High != p.Synthetic.High {
		t.Error("the edges are not the same")
	}
	if len(p.Doses) != 5 || !(p.Seconds > 0) {
		t.Errorf("%+v", p)
	}
	if !math.IsNaN(p.RankCorrelation) || !math.IsNaN(p.TopOverlap) {
		t.Errorf("a comparison of F with itself: %+v", p)
	}
}

// While the first generator is fitted, the refit that previews and r wait for is that one, not the next.
func TestAskedDuringTheFirstFit(t *testing.T) {
	var l *Lab
	w, c := newWorld(), newWorld().config()
	w.on("fit to 4", func() {
		w.hooks["fit to 4"] = nil
		l.Send(event.Preview{ID: "a", Knob: "guidance", Value: "3"})
		l.Send(event.SetKnob{Knob: "ratio", Value: "0.25", By: "test"})
	})
	l = w.lab(t, c, &memoryFolder{})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p, _ := answersOf(l); len(p) != 1 || p[0].Err != "the first generator is being fitted: there is a preview when it is done" {
		t.Errorf("%+v", p)
	}
	changed, at := bodies[event.KnobChanged](l)
	if len(changed) != 1 || !strings.HasSuffix(changed[0].Hint, "before the first generation at step 20") {
		t.Errorf("%+v at %v", changed, at)
	}
}

func TestPreviewOfAnotherRelevance(t *testing.T) {
	// The world's reward is the first number of the next observation, and td is that minus a
	// constant, so that both order the rows alike.
	c := newWorld().config()
	c.Knobs.Relevance = "reward"
	p := look(t, c, 30, event.Preview{Knob: "relevance", Value: "td-signed"})
	if p.Relevance != "td-signed" || math.Abs(p.RankCorrelation-1) > 1e-9 || p.TopOverlap != 1 || p.Preview == nil {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(p.Cost, "td-signed is ready; a refit with it takes about ") {
		t.Errorf("cost: %q", p.Cost)
	}
	// Before the first fit there is no generator to sample, but F can be compared.
	p = look(t, c, 10, event.Preview{Knob: "relevance", Value: "td-signed"})
	if p.Err != "" || p.Preview != nil || p.Synthetic != nil || p.Real == nil || math.Abs(p.RankCorrelation-1) > 1e-9 {
		t.Errorf("%+v", p)
	}
	// Without a condition the preview shows the distribution of the present F.
	p = look(t, c, 30, event.Preview{Knob: "relevance", Value: "none"})
	if p.Relevance != "reward" || p.Preview == nil || !math.IsNaN(p.RankCorrelation) {
		t.Errorf("%+v", p)
	}
}

func TestPreviewOfARelevanceThatIsNotBuilt(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Knobs.Relevance = "reward"
	l, _ := previewed(t, w, c, map[int][]event.Command{30: {event.Preview{Knob: "relevance", Value: "curiosity"}}})
	answers, _ := answersOf(l)
	if len(answers) != 1 || answers[0].Err != "" || answers[0].Real != nil {
		t.Fatalf("%+v", answers)
	}
	p := answers[0]
	if !strings.Contains(p.Cost, "curiosity has no model yet") || !strings.Contains(p.Cost, "trains it on 3 real batches first; a refit with it takes about ") {
		t.Errorf("cost %q", p.Cost)
	}
	if _, err := l.x.first().Functions.Function("curiosity"); err == nil {
		t.Error("the preview built the run's model")
	}
}

func TestPreviewsThatCannotBe(t *testing.T) {
	none := newWorld().config()
	none.Knobs.Relevance = relevance.None
	without := newWorld().config()
	withoutGenerator(&without)
	for _, p := range []struct {
		config      config.Config
		step        int
		knob, value string
		want        string
	}{
		{newWorld().config(), 10, "guidance", "3", "no generator is fitted before step 20"},
		{newWorld().config(), 30, "guidance", "99", "out of range"},
		{newWorld().config(), 30, "gidance", "1", `did you mean "guidance"`},
		{newWorld().config(), 30, "ratio", "1", "does not change what the present generator makes"},
		{newWorld().config(), 30, "generator_steps", "5", "does not change what the present generator makes"},
		{none, 30, "guidance", "3", "has no effect while relevance is none"},
		{without, 30, "guidance", "3", "not used by sac"},
	} {
		got := look(t, p.config, p.step, event.Preview{Knob: p.knob, Value: p.value})
		if !strings.Contains(got.Err, p.want) || len(got.Doses) != 0 {
			t.Errorf("%s=%s: %q, want %q", p.knob, p.value, got.Err, p.want)
		}
	}
}

func TestTheLastPreviewWins(t *testing.T) {
	l, _ := previewed(t, newWorld(), newWorld().config(), map[int][]event.Command{
		30: {event.Preview{ID: "a", Knob: "guidance", Value: "3"}, event.Preview{ID: "b", Knob: "guidance", Value: "4"}},
	})
	if answers, _ := answersOf(l); len(answers) != 1 || answers[0].ID != "b" {
		t.Errorf("%+v", answers)
	}
}

// Each of two screens gets its answer: the second one's says to ask again, and does not take the
// first one's away.
func TestPreviewsOfTwoScreens(t *testing.T) {
	l, _ := previewed(t, newWorld(), newWorld().config(), map[int][]event.Command{
		30: {event.Preview{ID: "one-1", Knob: "guidance", Value: "3"}, event.Preview{ID: "two-1", Knob: "guidance", Value: "4"},
			event.Preview{ID: "one-2", Knob: "guidance", Value: "5"}},
		35: {event.Preview{ID: "two-2", Knob: "guidance", Value: "4"}},
	})
	answers, _ := answersOf(l)
	if len(answers) != 3 {
		t.Fatalf("%+v", answers)
	}
	for i, want := range []struct {
		id   string
		busy bool
	}{{"two-1", true}, {"one-2", false}, {"two-2", false}} {
		if a := answers[i]; a.ID != want.id || a.Busy != want.busy || (len(a.Doses) > 0) == want.busy || (a.Err != "") != want.busy {
			t.Errorf("answer %d: %+v, want %+v", i, a, want)
		}
	}
}

// A preview is answered while training is paused, and at the end of the run no preview is left
// open.
func TestPreviewsWhilePausedAndAtTheEnd(t *testing.T) {
	w := newWorld()
	l := w.lab(t, w.config(), nil)
	step := 0
	w.on("step", func() {
		if step++; step == 30 {
			l.Send(event.Pause{})
			l.Send(event.Preview{ID: "paused", Knob: "guidance", Value: "3"})
		}
		if step == 60 {
			l.Send(event.Stop{})
			l.Send(event.Preview{ID: "late", Knob: "guidance", Value: "3"})
		}
	})
	w.on("sketch 1, guidance 3", func() {
		if l.x.gate.pause == nil {
			t.Error("the run does not wait")
		}
		l.Send(event.Resume{})
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	answers, steps := answersOf(l)
	if len(answers) != 2 || answers[0].ID != "paused" || answers[0].Err != "" || steps[0] != 30 {
		t.Fatalf("%+v at %v", answers, steps)
	}
	if answers[1].ID != "late" || answers[1].Err != event.ErrEnded.Error() {
		t.Errorf("%+v", answers[1])
	}
}

// A run with previews writes the same journal and ends in the same state.
func TestAHundredPreviewsLeaveNoTrace(t *testing.T) {
	c := newWorld().config()
	c.Schedule = []string{"25:relevance=td!", "33:relevance=return", "40/fit:4:guidance=3!"}
	_, plain := play(t, newWorld(), c)
	looks, n := map[int][]event.Command{}, 0
	for step := 2; step < 60; step++ {
		for _, p := range []event.Preview{{Knob: "guidance", Value: "5"}, {Knob: "relevance", Value: "curiosity"}, {Knob: "top_fraction", Value: "0.5"}} {
			if (step+n)%3 < 2 {
				looks[step] = append(looks[step], p)
				n++
			}
			n += len(p.Value) % 2
		}
	}
	if n < 100 {
		t.Fatalf("%d previews", n)
	}
	l, looked := previewed(t, newWorld(), c, looks)
	if answers, _ := answersOf(l); len(answers) < 50 {
		t.Errorf("%d answers", len(answers))
	}
	if a, b := plain.canonical(t), looked.canonical(t); a != b {
		t.Errorf("without previews\n%s\nwith\n%s", a, b)
	}
}

// The same holds with the real parts and every function, and beside rollouts of an explorer.
func TestPreviewsOfRealPartsLeaveNoTrace(t *testing.T) {
	pgr := realConfig()
	pgr.Schedule = []string{"14:relevance=td!"}
	previewedReal(t, pgr, event.Preview{Knob: "guidance", Value: "4"}, relevance.Choices())
	previewedReal(t, variant("max"), event.Preview{Knob: "horizon", Value: "2"}, []string{"ensemble", "curiosity"})
}

// previewedReal plays c with and without previews of a knob, and of the functions in turn.
func previewedReal(t *testing.T, c config.Config, of event.Preview, functions []string) {
	t.Helper()
	c.Steps, c.Generator.Chunk = 52, 256
	dev := testDevice(t)
	run := func(looks bool) (*Lab, string) {
		w, folder := newWorld(), &memoryFolder{}
		p, err := newParts(&c, w.task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, w.task(), folder, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		step := 0
		w.on("step", func() {
			if step++; !looks || step%4 != 0 {
				return
			}
			l.Send(of)
			if step > 20 {
				l.Send(event.Preview{Knob: "relevance", Value: functions[step/4%len(functions)]})
			}
		})
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return l, folder.canonical(t)
	}
	_, plain := run(false)
	l, looked := run(true)
	if plain != looked {
		t.Errorf("%s: without previews\n%s\nwith\n%s", c.Method, plain, looked)
	}
	answers, _ := answersOf(l)
	made := 0
	for _, a := range answers {
		if len(a.Doses) > 0 && a.Doses[0].Rows == 128 {
			made++
		}
	}
	if made < 6 {
		t.Errorf("%s: %d of %d answers made transitions: %+v", c.Method, made, len(answers), answers)
	}
}
