package lab

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/analysis"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// play runs a configuration of w to its end and returns the lab and the folder with the journal.
func play(t *testing.T, w *world, c config.Config) (*Lab, *memoryFolder) {
	t.Helper()
	folder := &memoryFolder{}
	l := w.lab(t, c, folder)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l, folder
}

// bodies returns the bodies of type T in a log, and the steps of their events.
func bodies[T any](l *Lab) (found []T, steps []int) {
	for _, e := range l.Events(0) {
		if b, ok := e.Body.(T); ok {
			found, steps = append(found, b), append(steps, e.Step)
		}
	}
	return found, steps
}

func count(log []string, name string) int {
	n := 0
	for _, call := range log {
		if call == name {
			n++
		}
	}
	return n
}

func TestLinesOfAlgorithm1ComeInTheirOrder(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Steps, c.Evaluation.Every = 21, 20
	play(t, w, c)
	refit := slices.Index(w.log, "start fit 0 of 20 rows, 20 scores, lr 0.0003")
	if refit < 0 {
		t.Fatalf("no fit to the 20 transitions of step 20: %q", w.log)
	}
	// Step 20: collect (2), four updates with the curiosity model's at the last
	// (7, 3), score (3), fit (5), generate (6), compare, evaluate.
	got := strings.Join(w.log[refit-8:refit+15], ", ")
	want := "act, step, update, update, update, update, train curiosity, score curiosity 20, " +
		"start fit 0 of 20 rows, 20 scores, lr 0.0003, fit to 2, fit to 4, fit to 6, fit to 8, fit to 10, " +
		"start generate 0, guidance 2, generate 1, generate 2, generate 3, score curiosity 12, " +
		"evaluate episodes 1, act mean 3, evaluation step, act mean 3"
	if got != want {
		t.Errorf("step 20 was\n %s\nwant\n %s", got, want)
	}
}

func TestFirstActionsAreRandomAndFirstUpdatesFollow(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Steps, c.StartSteps, c.Evaluation.Every = 8, 5, 0
	play(t, w, c)
	// As in the authors' code, actions are random while the buffer holds at most 5 transitions,
	// which is 6 times, and the first updates follow the 6th transition.
	want := "reset 0, build curiosity, step, step, step, step, step, step, update, update, update, update, train curiosity, act, step"
	w.log = slices.DeleteFunc(w.log, func(s string) bool { return s == "save policy" })
	if w.log[0] != "reset 0" {
		w.log[0], w.log[1] = w.log[1], w.log[0]
	}
	if got := strings.Join(w.log[:15], ", "); got != want {
		t.Errorf("began with\n %s\nwant\n %s", got, want)
	}
}

func TestRefitsAreDueAtMultiplesOfTheirInterval(t *testing.T) {
	w := newWorld()
	l, _ := play(t, w, w.config())
	refits, steps := bodies[event.Refit](l)
	if !slices.Equal(steps, []int{20, 40}) { // a refit in the last step would be useless
		t.Errorf("refits at %v", steps)
	}
	for i, r := range refits {
		if r.Steps != 10 || r.Generated != 12 || r.Loss == nil {
			t.Errorf("refit %d: %+v", i, r)
		}
	}
	if s := l.Snapshot(); s.Refits != 2 || s.Synthetic != 12 || s.State != event.Finished {
		t.Errorf("in the end: %+v", s)
	}
	f := newestF(l)
	if f == nil || f.Achieved == nil || f.Asked == nil {
		t.Fatalf("F of the newest D_syn: %+v", f)
	}
	if scores, _ := l.x.first().Synthesis.Scores(); f.Of != "curiosity" || f.At != 40 || f.Real.Rows != len(scores) || float64(f.Real.Median) != analysis.Summarise(scores).Median || f.Asked.Low != f.Real.Low || f.Asked.High != f.Achieved.High {
		t.Errorf("F of the newest D_syn: %+v, the scores were %v", f, scores)
	}
}

func TestMethodsWithoutGeneratorNeverRefit(t *testing.T) {
	w := newWorld()
	c := w.config()
	withoutGenerator(&c)
	l, _ := play(t, w, c)
	if refits, _ := bodies[event.Refit](l); len(refits) > 0 || count(w.log, "build curiosity") > 0 {
		t.Errorf("%d refits, %d curiosity models", len(refits), count(w.log, "build curiosity"))
	}
	if scores, _ := bodies[event.Scores](l); len(scores) > 0 {
		t.Error("scores without relevance")
	}
}

func TestRelevanceNoneFitsWithoutConditions(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Steps, c.Knobs.Relevance = 21, relevance.None
	play(t, w, c)
	if count(w.log, "start fit 0 of 20 rows, 0 scores, lr 0.0003") != 1 {
		t.Errorf("the fit saw scores: %q", w.log)
	}
}

// The authors' loop goes on from the last synthetic observation after a refit.
func TestGenerationLeavesTheObservationAlone(t *testing.T) {
	w := newWorld()
	l := w.lab(t, w.config(), nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	real := l.x.members[0].Real
	for i := range real.Len() {
		if got := real.Row(i)[:worldObs]; !slices.Equal(got, w.obs[i]) {
			t.Fatalf("transition %d begins at %v; the environment was at %v", i, got, w.obs[i])
		}
	}
}

func TestOnlyTrueEndsAreStoredAsEnds(t *testing.T) {
	for _, c := range []struct {
		terminal int
		want     float32
	}{{0, 0}, {7, 1}, {worldEpisode, 0}} { // an end at the time limit counts as the time limit
		w := newWorld()
		w.terminal = c.terminal
		config := w.config()
		config.Evaluation.Every, config.Steps = 0, worldEpisode
		l := w.lab(t, config, nil)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		length := c.terminal
		if length == 0 {
			length = worldEpisode
		}
		row := l.x.members[0].Real.Row(length - 1)
		if got := row[len(row)-1]; got != c.want {
			t.Errorf("the episode of %d steps ends with d = %g, want %g", length, got, c.want)
		}
		if episodes, _ := bodies[event.Episode](l); episodes[0].Length != length {
			t.Errorf("episode %+v, want %d steps", episodes[0], length)
		}
	}
}

func TestEvaluationIsABatchOfWholeEpisodes(t *testing.T) {
	w := newWorld()
	l, _ := play(t, w, w.config())
	evaluated, steps := bodies[event.Evaluated](l)
	if !slices.Equal(steps, []int{15, 30, 45, 60}) {
		t.Errorf("evaluations at %v", steps)
	}
	// Copy i earns i+1 for 10·(i+1) steps: 10, 40, 90.
	e := evaluated[0]
	if !slices.Equal(e.Returns, []run.Float{10, 40, 90}) || fmt.Sprintf("%.4f ± %.4f", e.ReturnMean, e.ReturnStd) != "46.6667 ± 32.9983" {
		t.Errorf("evaluated %+v", e)
	}
	if n := count(w.log, "act mean 3"); n != 4*30 {
		t.Errorf("%d calls of the policy, want one for each of the 30 steps of 4 evaluations", n)
	}
	for i := 1; i <= 4; i++ {
		if count(w.log, fmt.Sprintf("evaluate episodes %d", i)) != 1 {
			t.Errorf("evaluation %d has no episodes of its number", i)
		}
	}
	for _, kind := range []string{event.TypeDormant, event.TypeLosses, event.TypeScores, event.TypePerf} {
		var at []int
		for _, e := range l.Events(0) {
			if e.Type == kind {
				at = append(at, e.Step)
			}
		}
		if !slices.Equal(at, steps) {
			t.Errorf("lines of type %s at %v", kind, at)
		}
	}
	dormant, _ := bodies[event.Dormant](l)
	if dormant[0].Ratio != 0.5 { // one of the two units is always 0
		t.Errorf("dormant: %+v", dormant[0])
	}
}

func TestErrorsSayWhereTheyHappened(t *testing.T) {
	lost := errors.New("device lost")
	for call, want := range map[string]string{
		"act":                "step 7: collect: device lost",
		"update":             "step 6: train agent: device lost",
		"train curiosity":    "step 6: train agent: device lost",
		"score curiosity 20": "step 20: update relevance: device lost",
		"fit to 4":           "step 20: fit model: device lost",
		"generate 2":         "step 20: generate: device lost",
		"activations 8":      "step 15: evaluate: device lost",
	} {
		w := newWorld()
		w.fail[call] = lost
		folder := &memoryFolder{}
		l := w.lab(t, w.config(), folder)
		err := l.Run(context.Background())
		if err == nil || err.Error() != want || !errors.Is(err, lost) {
			t.Errorf("%s fails: %v, want %s", call, err, want)
		}
		failed, _ := bodies[event.Failed](l)
		if len(failed) != 1 || failed[0].Error != want || l.Snapshot().State != event.FailedState || l.Snapshot().Err != want {
			t.Errorf("%s fails: event %+v, snapshot %q", call, failed, l.Snapshot().Err)
		}
		if !strings.Contains(folder.journal.String(), `"type":"failed"`) || folder.files[run.PolicyName] == nil || !folder.closed {
			t.Errorf("%s fails: no line, no policy or an open folder", call)
		}
	}
}

func TestAPanicIsAFailure(t *testing.T) {
	w := newWorld()
	w.on("fit to 4", func() { panic("index out of range") })
	w.on("save policy", func() { panic("and again") })
	l := w.lab(t, w.config(), &memoryFolder{})
	err := l.Run(context.Background())
	if err == nil || !strings.HasPrefix(err.Error(), "step 20: fit: panic: index out of range (algorithm_test.go:") {
		t.Errorf("%v", err)
	}
	if failed, _ := bodies[event.Failed](l); len(failed) != 1 {
		t.Error("no event")
	}
}

func TestACohortGoesInLockstep(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Members = 2
	l, folder := play(t, w, c)
	members := map[int]int{}
	var returns [2][]event.Episode
	for _, e := range l.Events(0) {
		members[e.Member]++
		if b, ok := e.Body.(event.Episode); ok {
			returns[e.Member] = append(returns[e.Member], b)
		}
	}
	if members[0] != members[1] || members[0] == 0 || members[event.NoMember] == 0 {
		t.Errorf("events by member: %v", members)
	}
	if reflect.DeepEqual(returns[0], returns[1]) {
		t.Error("both members lived through the same")
	}
	for _, want := range []string{`{"type":"evaluated","step":15,"member":1,`, `{"type":"start","step":0,"task"`} {
		if !strings.Contains(folder.journal.String(), want) {
			t.Errorf("no line %s", want)
		}
	}
	if folder.files["policy-0.bin"] == nil || folder.files["policy-1.bin"] == nil {
		t.Errorf("files: %v", folder.files)
	}
	// Member 0 is the run of its own seed.
	alone := newWorld()
	_, single := play(t, alone, alone.config())
	one := strings.ReplaceAll(linesOf(folder.canonical(t), `"member":0,`), `"member":0,`, "")
	if got := linesOf(single.canonical(t), `"type":"e`); got != linesOf(one, `"type":"e`) {
		t.Errorf("alone:\n%s\nin the cohort:\n%s", got, one)
	}
}

func linesOf(journal, part string) string {
	var kept []string
	for _, line := range strings.Split(journal, "\n") {
		if strings.Contains(line, part) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
