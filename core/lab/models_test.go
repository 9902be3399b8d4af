package lab

import (
	"fmt"
	"slices"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

// A switch to a function without a model builds the model once, warms it up on real data before the
// next scoring, and then trains it regularly.
func TestSwitchBuildsAndWarmsAModel(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Knobs.Relevance, c.Schedule = "td", []string{"30:relevance=rnd!"}
	l, _ := play(t, w, c)
	if n := count(w.log, "build rnd"); n != 1 {
		t.Errorf("built %d times", n)
	}
	// It makes up for 5 of the 25 updates missed until step 30, in slices of at most 4.
	refit := slices.Index(w.log, "start fit 1 of 31 rows, 31 scores, lr 0.0003")
	built := slices.Index(w.log, "build rnd")
	if refit < 0 || built < 0 || built > refit {
		t.Fatalf("no refit at step 31: %s", sequence(l))
	}
	if n := count(w.log[built:refit], "train rnd"); n != 1+5 { // one update belongs to step 31
		t.Errorf("%d updates before the first fit to its scores", n)
	}
	if count(w.log[:built], "train curiosity")+count(w.log[built:], "train curiosity") != 0 {
		t.Error("a model that nothing uses was trained")
	}
	losses, _ := bodies[event.Losses](l)
	if last := losses[len(losses)-1]; last.RND == nil || last.Curiosity != nil {
		t.Errorf("losses %+v", last)
	}
	if s := learningOf(l, "rnd"); s.missed != 0 || s.updates < 30 {
		t.Errorf("in the end %+v", s)
	}
}

// Without a cadence of their own, models make one update per env step, whatever the update-to-data
// ratio is or becomes.
func TestModelsLearnOncePerEnvStep(t *testing.T) {
	for _, utd := range []int{1, 3, 20} {
		w := newWorld()
		c := w.config()
		changeICM(&c, func(i *relevance.ICMConfig) { i.Every = 0 })
		c.Knobs.UTD, c.Schedule = utd, []string{"25:utd=7", "40:utd=2"}
		l, _ := play(t, w, c)
		trained := c.Steps - c.StartSteps
		if got := learningOf(l, "curiosity").updates; got != uint64(trained) {
			t.Errorf("utd %d: %d updates of the curiosity model in %d env steps with training", utd, got, trained)
		}
		if n := count(w.log, "train curiosity"); n != trained {
			t.Errorf("utd %d: %d calls", utd, n)
		}
	}
}

// Pseudo-counts are made from all real transitions, the oldest first, before each scoring. Before
// the first scoring there is no F to report.
func TestCountsAreMadeAgainBeforeEachScoring(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Method, c.Knobs.Relevance = "pgr-count", "count"
	l, _ := play(t, w, c)
	m := l.x.first().F.Counts
	if m.Seen() != 40 {
		t.Errorf("the density has seen %d transitions at the last refit, want 40", m.Seen())
	}
	scores, steps := bodies[event.Scores](l)
	if !slices.Equal(steps, []int{30, 45, 60}) || scores[0].Relevance != "count" {
		t.Errorf("scores at %v: %+v", steps, scores)
	}
	if f := newestF(l); f == nil || !(f.Real.Min > 0 && f.Real.Max <= 10) {
		t.Errorf("F of real transitions: %+v", f)
	}
}

// warming plays a run that turns from td to rnd at step 30, with other changes after it. It returns how
// often rnd and curiosity have learned when rnd has scored for the first fit, and resumes the run from
// within the env steps up to then.
func warming(t *testing.T, warmup, fit int, changes ...string) (rnd, curiosity int) {
	t.Helper()
	var w *world
	begin := func(r record) *Lab {
		w = newWorld()
		c := w.config()
		c.Relevance = c.Relevance.With("rnd", relevance.RNDConfig{Cadence: relevance.Cadence{Every: 4, Warmup: warmup}})
		c.Knobs.Relevance, c.Schedule = "td", append([]string{"30:relevance=rnd!"}, changes...)
		return w.lab(t, c, r)
	}
	if err := begin(nil).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	scored := slices.Index(w.log, fmt.Sprintf("score rnd %d", fit))
	if scored < 0 {
		t.Fatal("rnd does not score")
	}
	rnd, curiosity = count(w.log[:scored], "train rnd"), count(w.log[:scored], "train curiosity")
	resumeFrom(t, func(_ int, p knob.Position) bool { return p.Step > 30 && p.Step <= fit && p.Phase == knob.Score }, begin)
	return rnd, curiosity
}

// All of a warm-up goes to the function that scoring has bound, whatever is chosen meanwhile.
func TestAWarmUpIsOfTheBoundFunction(t *testing.T) {
	for _, other := range []string{"td", "curiosity"} {
		if rnd, curiosity := warming(t, 5, 31, "31/score:4:relevance="+other); rnd != 1+5 || curiosity != 0 {
			t.Errorf("%s chosen during the warm-up: %d updates of rnd, want 6, and %d of curiosity", other, rnd, curiosity)
		}
	}
}

// A warm-up that is given up is owed: it is done before the next scoring.
func TestAWarmUpThatIsGivenUpIsOwed(t *testing.T) {
	// One update belongs to each env step with rnd.
	if rnd, _ := warming(t, 20, 32, "31/score:4:relevance=rnd!"); rnd != 1+4+1+16 {
		t.Errorf("%d updates of rnd before it scores, want 22", rnd)
	}
	// Step 32 has td: rnd misses one more.
	if rnd, _ := warming(t, 20, 33, "31/score:4:relevance=td!", "32:relevance=rnd!"); rnd != 1+4+1+17 {
		t.Errorf("%d updates of rnd before it scores, want 23", rnd)
	}
}

// learning is how many updates a model has made, and how many it has missed.
type learning struct {
	updates uint64
	missed  int
}

func learningOf(l *Lab, name string) (found learning) {
	for _, m := range l.x.first().Models {
		if m.Name == name {
			found = learning{m.Updates, m.Missed}
		}
	}
	return found
}
