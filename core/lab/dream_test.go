package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// dreamConfig is the smallest dream: three generations, the second one of other prompts, the third one of
// another F.
func dreamConfig() config.Config {
	c := tiny.Config()
	c.Task, c.Agent.Learner, c.StartSteps, c.Evaluation.Every, c.Steps = task.OfData+"rows", config.LearnerNone, 0, 0, 3
	c.Evaluation.AnalysedRows = 8
	c.Schedule = []string{"1:guidance=3", "2:relevance=reward"}
	return c
}

// dreamtTask is the smallest task without its environment.
func dreamtTask() task.Task {
	return task.Data(task.OfData+"rows", task.Spec{Obs: tiny.Task().ObsSize, Act: tiny.Task().ActSize, Limit: 44})
}

// dreamtRows are transitions of the smallest task, in the order of time.
func dreamtRows(t *testing.T, n int) (rows []float32) {
	t.Helper()
	env, err := tiny.Task().New(3)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	obs, next, act := make([]float32, env.ObsSize()), make([]float32, env.ObsSize()), make([]float32, env.ActSize())
	if err := env.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for k := range act {
			act[k] = float32((i*7+k*3)%11)/5 - 1
		}
		reward, _, _, err := env.Step(act, next)
		if err != nil {
			t.Fatal(err)
		}
		rows = slices.Concat(rows, obs, act, []float32{float32(reward)}, next, []float32{0})
		copy(obs, next)
	}
	return rows
}

func dreamLab(t *testing.T, c config.Config, rows []float32, folder record) *Lab {
	t.Helper()
	of := dreamtTask()
	dev := quick(t, 1)
	p, err := newParts(&c, of, dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, of, folder, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	if rows != nil {
		l.Record(rows)
	}
	return l
}

// A dream fits its generator once to the recorded rows, and then redoes what each change asks for: rows by
// other prompts without a fit, for another F all of it. It makes no env step, no update and no evaluation,
// and every change is in force with the generation that it asked for.
func TestADream(t *testing.T) {
	folder := &memoryFolder{}
	l := dreamLab(t, dreamConfig(), dreamtRows(t, 40), folder)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var fits []int
	inForce := map[string]int{}
	for _, e := range l.Events(0) {
		switch b := e.Body.(type) {
		case event.Refit:
			fits = append(fits, b.Steps)
			if b.F == nil || b.F.Of != map[int]string{1: "curiosity", 2: "curiosity", 3: "reward"}[e.Step] {
				t.Errorf("generation %d is of %+v", e.Step, b.F)
			}
		case event.InForce:
			inForce[b.Knob] = e.Step
		case event.Evaluated, event.Episode, event.Losses:
			t.Errorf("there is a line %s", e.Type)
		}
	}
	if steps := l.Config().Knobs.GeneratorSteps; !slices.Equal(fits, []int{steps, 0, steps}) {
		t.Errorf("generator steps of each generation: %v", fits)
	}
	if inForce["guidance"] != 2 || inForce["relevance"] != 3 {
		t.Errorf("in force: %v", inForce)
	}
	if m := l.x.first(); m.Real.Len() != 40 || m.Updates != 0 {
		t.Errorf("%d rows, %d updates", m.Real.Len(), m.Updates)
	}
}

// While the model of F learns, which takes most of the time before the first generation, a snapshot counts its
// updates and says when the phase ends; then it counts the rows.
func TestADreamShowsThatFLearns(t *testing.T) {
	c := dreamConfig()
	icm := c.Relevance.Of("curiosity").(relevance.ICMConfig)
	icm.Warmup = 12
	c.Relevance, c.Schedule, c.Steps = c.Relevance.With("curiosity", icm), nil, 1
	l := dreamLab(t, c, dreamtRows(t, 40), &memoryFolder{})
	var seen []string
	l.x.control.publish = at(l.x.control.publish, func() {
		s := l.x.snapshot(l.x.now())
		if s.Phase != knob.Score || s.PhaseTotal == 0 {
			return
		}
		text := fmt.Sprintf("%s %d/%d", s.Doing(), s.PhaseDone, s.PhaseTotal)
		if s.Warming && s.PhaseDone > 0 && s.PhaseETA <= 0 {
			text += ", who knows how long"
		}
		seen = append(seen, text)
	})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen = slices.Compact(seen)
	want := []string{"F learns 4/12", "F learns 8/12", "score 0/40"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

// A dream waits for a change between two generations, whatever else comes in, and says that it is ready.
func TestADreamWaitsForAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dreamConfig()
		c.Schedule, c.Steps = nil, 2
		l := dreamLab(t, c, dreamtRows(t, 40), nil)
		ended := make(chan error, 1)
		go func() { ended <- l.Run(t.Context()) }()
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.Ready || s.Step != 1 || s.Err != "" || !s.Dreams {
			t.Fatalf("%v at %d: %q", s.State, s.Step, s.Err)
		}
		for _, c := range []event.Command{event.Resume{By: "test"}, event.Pause{By: "test"}, event.Resume{By: "test"}, event.SetKnob{Knob: "ratio", Value: "0.25"}} {
			if err := l.Send(c); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.Ready || s.Step != 1 {
			t.Errorf("after what is no change it is %v at %d", s.State, s.Step)
		}
		if !slices.ContainsFunc(l.Events(0), func(e event.Event) bool { return e.Type == event.TypeRefused }) {
			t.Error("r is not refused")
		}
		if err := l.Send(event.SetKnob{Knob: "guidance", Value: "3"}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if s := l.Snapshot(); s.Step != 2 || s.State != event.Finished {
			t.Errorf("it ended %v at %d", s.State, s.Step)
		}
	})
}

// A dream goes on from wherever it was saved.
func TestADreamGoesOn(t *testing.T) {
	rows := dreamtRows(t, 40)
	c := dreamConfig()
	c.Knobs.GeneratorSteps = 4
	first := true
	phases := resumeEverywhere(t, 1, func(folder record) *Lab {
		if first {
			first = false
			return dreamLab(t, c, rows, folder)
		}
		return dreamLab(t, c, nil, folder)
	})
	for _, p := range []knob.Phase{knob.Score, knob.Fit, knob.Generate} {
		if phases[p] == 0 {
			t.Errorf("nothing was saved in phase %s", p)
		}
	}
}

// F of an agent's estimates is refused in a dream, by name and in a formula.
func TestADreamHasNoValues(t *testing.T) {
	c := dreamConfig()
	for _, name := range []string{"td", "return", "=rank(td) + reward", "=q"} {
		if err := c.CanMeet(name); err == nil || !strings.Contains(err.Error(), "there is no agent") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"curiosity", "=rank(curiosity) + reward", "count"} {
		if err := c.CanMeet(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
