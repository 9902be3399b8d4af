package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// failing makes the nth call of a name fail, and counts the environments that are made.
func (w *world) failing(call string, nth int, err error) {
	made := 0
	w.on(call, func() {
		delete(w.fail, call)
		if made++; made == nth {
			w.fail[call] = err
		}
	})
}

var errSimulation = errors.New("the simulation has trapped")

// If a simulation fails, training pauses and says at which step. After a resume the member has a
// new environment and repeats the same env step; no member's transitions are missing.
func TestAFailedSimulationPauses(t *testing.T) {
	for _, members := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.failing("step", 30*members, errSimulation) // the last member fails at step 30
			c := w.config()
			c.Members = members
			folder := &memoryFolder{}
			l := w.lab(t, c, folder)
			broken := w.started
			r := w.start(t, t.Context(), l, folder)
			synctest.Wait()
			s := l.Snapshot()
			if s.State != event.PausedState || s.Err != "step 30: simulate: the simulation has trapped" || s.Position != knob.After(29) {
				t.Errorf("%s at %s: %q", s.State, s.Position, s.Err)
			}
			if w.started == broken {
				t.Error("the environment that failed is still there")
			}
			again := saved(t, l.x) // the state is a whole one
			l.Send(event.Resume{By: "ana"})
			if err := <-r.ended; err != nil {
				t.Fatal(err)
			}
			for i, m := range l.x.members {
				if m.Real.Total() != 60 {
					t.Errorf("member %d: %d transitions of 60 steps", i, m.Real.Total())
				}
			}
			found, steps := bodies[event.Diverged](l)
			if len(found) != 1 || steps[0] != 30 || found[0].Doing != "simulate" || found[0].Position.String() != "30/collect:0" {
				t.Errorf("%+v at %v", found, steps)
			}
			journal := folder.canonical(t)
			if !strings.Contains(journal, `"length":29`) || strings.Count(journal, `"diverged"`) != 1 {
				t.Errorf("the journal is\n%s", journal)
			}
			// The run saved in the pause goes on as this one did.
			rest, twin := &memoryFolder{}, newWorld()
			second := twin.lab(t, c, rest)
			if err := again.load(second.x); err != nil {
				t.Fatal(err)
			}
			if err := second.x.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := rest.canonical(t); got == "" || !strings.Contains(journal, got) {
				t.Errorf("from the pause it writes\n%s\nof\n%s", got, journal)
			}
			second.Close()
		})
	}
}

// A simulation that keeps failing pauses training each time. A run without a watching user ends at
// the first failure.
func TestASimulationThatKeepsFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.on("evaluate episodes 1", func() { w.fail["step"], w.fail["reset 1"] = errSimulation, errSimulation })
		l := w.lab(t, w.config(), nil)
		r := w.start(t, t.Context(), l, nil)
		for range 3 {
			synctest.Wait()
			if s := l.Snapshot(); s.State != event.PausedState || !strings.HasPrefix(s.Err, "step 16: simulate: ") {
				t.Errorf("%s: %q", s.State, s.Err)
			}
			l.Send(event.Resume{})
		}
		synctest.Wait()
		l.OnFault(FaultFail)
		l.Send(event.Resume{})
		if err := <-r.ended; err == nil || err.Error() != "step 16: simulate: the simulation has trapped" {
			t.Errorf("%v", err)
		}
		if found, _ := bodies[event.Diverged](l); len(found) != 5 {
			t.Errorf("%d events", len(found))
		}
	})
}

// An evaluation whose simulation fails is left out, and the next one is made.
func TestAFailedEvaluationIsLeftOut(t *testing.T) {
	for _, call := range []string{"evaluation step", "evaluate episodes 2"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			nth := 1
			if call == "evaluation step" {
				nth = 40 // each evaluation has 30
			}
			w.failing(call, nth, errSimulation)
			l := w.lab(t, w.config(), nil)
			r := w.start(t, t.Context(), l, nil)
			synctest.Wait()
			if s := l.Snapshot(); s.State != event.PausedState || !strings.HasPrefix(s.Err, "step 30: evaluate: ") {
				t.Errorf("%s: %q", s.State, s.Err)
			}
			l.Send(event.Resume{})
			if err := <-r.ended; err != nil {
				t.Fatal(err)
			}
			twin := newWorld()
			undisturbed, _ := play(t, twin, twin.config())
			got, at := bodies[event.Evaluated](l)
			want, _ := bodies[event.Evaluated](undisturbed)
			if len(at) != 3 || at[0] != 15 || at[1] != 45 || got[2].ReturnMean != want[3].ReturnMean {
				t.Errorf("evaluations at %v: %+v, want all but the second of %+v", at, got, want)
			}
		})
	}
}

// The signal that ends a run may end the program of its environment too. An evaluation that fails for that is not left
// out: the run goes on with it.
func TestAnEvaluationThatASignalEndsIsMadeLater(t *testing.T) {
	for _, call := range []string{"evaluation step", "evaluate episodes 2"} {
		w := newWorld()
		nth := 1
		if call == "evaluation step" {
			nth = 40 // each evaluation has 30
		}
		ctx, cancel := context.WithCancel(t.Context())
		made := 0
		w.on(call, func() {
			delete(w.fail, call)
			if made++; made == nth {
				w.fail[call] = errSimulation
				cancel()
			}
		})
		l := w.lab(t, w.config(), nil)
		l.OnFault(FaultFail)
		if err := l.x.run(ctx); !errors.Is(err, errInterrupt) || l.x.position != knob.At(30, knob.Evaluate, 0) {
			t.Fatalf("%s: it ended at %s with %v", call, l.x.position, err)
		}
		again := saved(t, l.x)
		l.Close()
		twin := newWorld()
		second := twin.lab(t, twin.config(), nil)
		if err := again.load(second.x); err != nil {
			t.Fatal(err)
		}
		if err := second.x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		twin = newWorld()
		undisturbed, _ := play(t, twin, twin.config())
		got, at := bodies[event.Evaluated](second)
		want, _ := bodies[event.Evaluated](undisturbed)
		if len(at) != 3 || at[0] != 30 || got[0].ReturnMean != want[1].ReturnMean || got[2].ReturnMean != want[3].ReturnMean {
			t.Errorf("%s: evaluations at %v: %+v, want all but the first of %+v", call, at, got, want)
		}
		second.Close()
	}
}

// The checkpoint before a fault is kept and named, and the run can go back to it.
func TestTheCheckpointBeforeAFaultStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	w := newWorld()
	l := w.lab(t, w.config(), folder)
	l.OnFault(FaultFail)
	w.on("evaluate episodes 1", func() { l.Send(event.Checkpoint{By: "test"}) })
	w.failing("step", 30, errSimulation)
	w.on("evaluation step", func() {
		l.x.checkpoints.settle()
	})
	err := l.Run(context.Background())
	if err == nil || !strings.HasSuffix(err.Error(), "the simulation has trapped: pgrlab train --resume "+dir+" goes on with a new simulation; pgrlab train --resume "+dir+"@15/evaluate:0 goes back to before it") {
		t.Errorf("%v", err)
	}
	found, err := run.Checkpoints(dir)
	kept := slices.IndexFunc(found, func(c run.Found) bool { return c.Kept })
	if err != nil || len(found) != 2 || kept < 0 || found[1-kept].Kept || found[1-kept].Step != 29 { // the end of the last whole step
		t.Fatalf("%+v, %v", found, err)
	}
	why, err := os.ReadFile(found[kept].Path + ".keep")
	if err != nil || string(why) != "before the fault at step 30\n" {
		t.Errorf("%q, %v", why, err)
	}
	diverged, _ := bodies[event.Diverged](l)
	if len(diverged) != 1 || diverged[0].Obs == nil || diverged[0].Obs.Checkpoint != found[kept].Path {
		t.Errorf("%+v", diverged)
	}
	if err := os.Remove(found[1-kept].Path); err != nil { // back to before the fault
		t.Fatal(err)
	}
	again, said, err := restored(t, w.config(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, text := range said {
		if strings.Contains(text, "damaged") {
			t.Error(text)
		}
	}
	twin := newWorld()
	if _, undisturbed := play(t, twin, twin.config()); journalOf(t, dir) != undisturbed.canonical(t) {
		t.Error("the run that went back has another journal than one without the fault")
	}
}

// What a person changes in the pause after a failed simulation, and after it, is made again by a
// resume, although the env step before is then the run's place.
func TestChangesAfterAFailedSimulationAreMadeAgain(t *testing.T) {
	w, dir := newWorld(), filepath.Join(t.TempDir(), "run")
	w.failing("step", 30, errSimulation)
	steered(t, w, w.config(), dir, 35, map[int][]event.Command{
		30: {event.SetKnob{Knob: "guidance", Value: "5", By: "ana"}, event.Resume{By: "ana"}},
		32: {event.SetKnob{Knob: "tau", Value: "0.5", By: "ana"}},
	})
	l, said, err := restored(t, newWorld().config(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := sequence(l)
	for _, want := range []string{"guidance 2→5 at 29", "tau 0.005→0.5 at 32"} {
		if !strings.Contains(got, want) {
			t.Errorf("said %q: %s, want %s", said, got, want)
		}
	}
}
