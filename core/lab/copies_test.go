package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/testing/tiny"
)

// inEnvSteps returns c, whose length, cadences and schedule count env steps as the tests here do, with
// the same in steps of all copies of the environment.
func inEnvSteps(c config.Config) config.Config {
	n := c.Environment.InLockstep()
	for _, count := range []*int{&c.Steps, &c.Evaluation.Every, &c.Evaluation.KeepEvery, &c.Evaluation.AnalyseEvery, &c.Knobs.RefitEvery} {
		*count *= n
	}
	c.Schedule = slices.Clone(c.Schedule)
	for i, text := range c.Schedule {
		if s, err := knob.ParseScheduled(text); err == nil {
			s.At.Step *= n
			c.Schedule[i] = s.String()
		}
	}
	return c
}

// unevenCopies is a run in three copies of the environment whose episodes end at different steps.
func unevenCopies() (*world, config.Config) {
	w, c := newWorld(), newWorld().config()
	w.terminal, w.spread = 17, 5
	c.Environment.Copies = 3
	return w, c
}

// Each copy starts its next episode by itself, and every episode has its own number. D_real holds
// the transitions of each env step in the order of the copies, and the transitions of a copy are
// consecutive states.
func TestCopiesRestartByThemselves(t *testing.T) {
	w, c := unevenCopies()
	l, folder := play(t, w, c)
	checkCopies(t, l, w)
	found, steps := bodies[event.Episode](l)
	lengths := map[int][]int{}
	for i, e := range found {
		lengths[e.Copy] = append(lengths[e.Copy], e.Length)
		if want := 3 * sum(lengths[e.Copy]); steps[i] != want {
			t.Errorf("episode %d of copy %d ends at step %d, want %d", len(lengths[e.Copy]), e.Copy, steps[i], want)
		}
	}
	for i := range 3 { // copy i plays the episodes i, i+3, i+6
		want := []int{17 + i, 17 + (i+3)%5, 17 + (i+6)%5}
		if got := lengths[i]; !slices.Equal(got, want[:len(got)]) || len(got) < 2 {
			t.Errorf("copy %d has episodes of %v steps, want %v", i, got, want)
		}
	}
	if journal := folder.canonical(t); !strings.Contains(journal, `"length":19,"copy":2}`) || strings.Contains(journal, `"copy":0`) {
		t.Errorf("the journal is\n%s", journal)
	}
	if acted := strings.Count(strings.Join(w.log, "\n"), "\nact\n"); acted != c.Steps-(c.StartSteps+3)/3 {
		t.Errorf("the policy was asked %d times in %d steps", acted, c.Steps)
	}
}

// With several copies there are enough transitions several times sooner; PPO makes its first update after
// its first rollout. Reasons why a change has no effect yet name these env steps.
func TestTheFirstUpdateIsForetold(t *testing.T) {
	w, c := unevenCopies()
	l := w.lab(t, c, nil)
	ppo, err := New(context.Background(), ppoConfig("rnd"), mazeTask(t), tiny.Device(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []*Lab{l, ppo} {
		o, first := l.x.outlook(), []int{3 * (c.StartSteps/3 + 1), 3}[i]
		if want := []int{first, 3 * 8}[i]; o.FirstStep != first || o.Updates != want {
			t.Errorf("enough at step %d, updates from %d on, want %d and %d", o.FirstStep, o.Updates, first, want)
		}
		k, _ := knob.Find("lr_critic")
		if hint := l.x.outlook().Hint(k, redo.Update); !strings.HasSuffix(hint, fmt.Sprintf("before the first update at step %d", o.Updates)) {
			t.Errorf("%q", hint)
		}
		if l.x.Step = o.Updates; l.x.outlook().Hint(k, redo.Update) != "" {
			t.Error("there are updates, and a change is said to have no effect")
		}
		l.Close()
	}
}

// checkCopies compares D_real with what the environments returned.
func checkCopies(t *testing.T, l *Lab, w *world) {
	t.Helper()
	m, n := l.x.first(), len(l.x.first().World.Counters)
	if m.Real.Len() != l.x.Step {
		t.Fatalf("%d transitions after step %d", m.Real.Len(), l.x.Step)
	}
	for i := range m.Real.Len() - n {
		row, next := m.Real.Row(i), m.Real.Row(i+n)
		ended := next[1] == 0 // the second number of an observation is the step
		if now := row[worldObs+worldAct+1:]; !ended && !slices.Equal(next[:worldObs], now[:worldObs]) {
			t.Fatalf("transition %d of a copy ends in %v, the next one begins in %v", i, now[:worldObs], next[:worldObs])
		}
	}
}

func sum(all []int) (s int) {
	for _, n := range all {
		s += n
	}
	return s
}

// A run of off-policy updates in several copies goes on from every border.
func TestARunInCopiesGoesOnFromEveryBorder(t *testing.T) {
	for _, members := range []int{1, 2} {
		resumeEverywhere(t, 3, func(r record) *Lab {
			w, c := unevenCopies()
			c.Members, c.Schedule = members, busySchedule
			return w.lab(t, c, r)
		})
	}
}

// If one copy fails, the copies that have already made the env step do not make it twice, neither
// when training goes on nor in a run that was saved in between.
func TestACopyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := unevenCopies()
		w.failing("step", 3*29+2, errSimulation) // the second copy fails at step 30
		folder := &memoryFolder{}
		l := w.lab(t, c, folder)
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || s.Position != knob.After(3*29) {
			t.Fatalf("%s at %s: %q", s.State, s.Position, s.Err)
		}
		if h := l.x.first().World.Half; h == nil || !slices.Equal(h.Made, []bool{true, false, false}) {
			t.Errorf("of the env step %+v is kept, want what the first copy made", h)
		}
		again := saved(t, l.x)
		l.Send(event.Resume{By: "ana"})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		checkCopies(t, l, w)
		if l.x.first().World.Half != nil {
			t.Error("half of an env step is kept for ever")
		}
		rest, twin := &memoryFolder{}, newWorld()
		twin.terminal, twin.spread = w.terminal, w.spread
		second := twin.lab(t, c, rest)
		defer second.Close()
		if err := again.load(second.x); err != nil {
			t.Fatal(err)
		}
		if err := second.x.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		checkCopies(t, second, twin)
		if got, journal := rest.canonical(t), folder.canonical(t); got == "" || !strings.Contains(journal, got) {
			t.Errorf("from the pause it writes\n%s\nof\n%s", got, journal)
		}
	})
}

// A checkpoint with another number of copies is refused in one line.
func TestACheckpointOfOtherCopies(t *testing.T) {
	w, c := unevenCopies()
	l := w.lab(t, c, nil)
	defer l.Close()
	image := saved(t, l.x)
	c.Environment.Copies = 2
	other := w.lab(t, c, nil)
	defer other.Close()
	if err := image.load(other.x); err == nil || !strings.Contains(err.Error(), "copies of the environment") {
		t.Errorf("%v, want a refusal", err)
	}
}

// What is due at a step within an env step is due at its end: evaluations, refits, changes, and the end.
func TestCopiesRoundUp(t *testing.T) {
	w, c := unevenCopies()
	c.Steps, c.Evaluation.Every, c.Knobs.RefitEvery, c.Schedule = 61, 20, 25, []string{"10:guidance=3"}
	folder := &memoryFolder{}
	l, err := newLab(c, w.task(), folder, w.parts(), "cpu test, 2 threads", clock())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, evaluated := bodies[event.Evaluated](l)
	_, refits := bodies[event.Refit](l)
	changes, _ := bodies[event.KnobChanged](l)
	if !slices.Equal(evaluated, []int{21, 42, 60, 63}) || !slices.Equal(refits, []int{27, 51}) {
		t.Errorf("evaluations at %v, refits at %v", evaluated, refits)
	}
	if len(changes) != 1 || changes[0].Position != knob.After(12) {
		t.Errorf("changes %+v", changes)
	}
	if s := l.Snapshot(); s.Step != 63 {
		t.Errorf("it ends at step %d", s.Step)
	}
}
