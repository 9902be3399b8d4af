package lab

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/agent"
	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	"pgrlab/core/plan"
	"pgrlab/core/testing/cputest"
)

func notFinite() error {
	return &plan.NotFinite{Program: "critic", Step: 3, Op: "linear", From: "b1[1,8,4]", Tensor: "b2[1,8,4]", Row: 2, Value: 1 / zero}
}

var zero float64

// Training pauses at every number that is not finite, until a user resumes it, and goes on with the
// state that the part has kept.
func TestDivergencePausesUntilResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		folder := &memoryFolder{}
		w.on("evaluate episodes 1", func() { w.fail["update"] = notFinite() })
		l := w.lab(t, w.config(), folder)
		r := w.start(t, t.Context(), l, folder)
		const where = "critic: step 3, linear from b1[1,8,4]: b2[1,8,4] is +Inf at [0,2,0]"
		for _, step := range []string{"16", "17"} {
			synctest.Wait()
			want := "the agent diverged at step " + step + " (values became infinite): lower lr_actor or lr_critic"
			if s := l.Snapshot(); s.State != event.PausedState || s.Err != want {
				t.Errorf("it is %s: %q, want %q", s.State, s.Err, want)
			}
			l.Send(event.SetKnob{Knob: "lr_critic", Value: "0.0" + step})
			l.Send(event.Resume{})
		}
		synctest.Wait()
		delete(w.fail, "update")
		l.Send(event.Resume{})
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		found, steps := bodies[event.Diverged](l)
		if len(found) != 3 || steps[2] != 18 || found[0].Error != where || found[0].Op != "linear" || found[0].Doing != "train agent" {
			t.Errorf("%+v at %v", found, steps)
		}
		if n := strings.Count(folder.canonical(t), `{"type":"diverged","step":1`); n != 3 {
			t.Errorf("%d lines of it in the journal", n)
		}
	})
}

func TestAnUnwatchedDivergenceEndsTheRun(t *testing.T) {
	w := newWorld()
	w.on("evaluate episodes 1", func() { w.fail["update"] = notFinite() })
	l := w.lab(t, w.config(), nil)
	l.OnFault(FaultFail)
	if err := l.Run(context.Background()); err == nil || err.Error() != "the agent diverged at step 16 (values became infinite): lower lr_actor or lr_critic" {
		t.Errorf("%v", err)
	}
}

// A fit or a generation that diverges is given up. The data from before stays, and a knob set "now"
// makes it again.
func TestARefitThatDivergesIsGivenUp(t *testing.T) {
	for call, words := range map[string]string{
		"score curiosity 20": "the curiosity model diverged at step 20", "start fit 0 of 20 rows, 20 scores, lr 0.0003": "the generator diverged at step 20", "fit to 4": "the generator diverged at step 20",
		"generate 2": "the generator's sampler diverged at step 20", "train curiosity": "the curiosity model diverged at step 16",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.on("evaluate episodes 1", func() { w.fail[call] = notFinite() })
			l := w.lab(t, w.config(), nil)
			r := w.start(t, t.Context(), l, nil)
			synctest.Wait()
			if s := l.Snapshot(); s.State != event.PausedState || !strings.HasPrefix(s.Err, words+" (values became infinite): lower ") {
				t.Errorf("%s: it is %s: %q", call, s.State, s.Err)
			}
			delete(w.fail, call)
			l.Send(event.SetKnob{Knob: "lr_generator", Value: "0.001", Now: true})
			l.Send(event.Resume{})
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
			refits, steps := bodies[event.Refit](l)
			if len(refits) < 2 || refits[0].Generated != 12 || call != "train curiosity" && steps[0] != 21 {
				t.Errorf("%s: refits %+v at %v", call, refits, steps)
			}
		})
	}
}

// The knobs make the real parts diverge: critics at the highest learning rate, learning from their
// own values.
func TestAKnobThatDiverges(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	c := realConfig()
	withoutGenerator(&c)
	c.Steps, c.Evaluation.Every, c.Agent.Hidden = 200, 0, []int{64, 64, 64, 64}
	c.Knobs.UTD, c.Schedule = 20, []string{"20:lr_critic=1", "20:tau=1"}
	l, err := New(context.Background(), c, newWorld().task(), dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(t.Context()) }()
	for l.Snapshot().State != event.PausedState && l.Snapshot().State != event.Finished {
		select {
		case err := <-ended:
			t.Fatalf("it ended at step %d without a pause: %v", l.Snapshot().Step, err)
		default:
		}
	}
	s := l.Snapshot()
	found, _ := bodies[event.Diverged](l)
	if len(found) != 1 || found[0].Doing != "train agent" || found[0].Tensor == "" && !strings.Contains(found[0].Error, "norm") {
		t.Errorf("%+v", found)
	}
	t.Logf("step %d: %s", s.Step, s.Err)
	l.Send(event.SetKnob{Knob: "lr_critic", Value: "0.001"})
	l.Send(event.Stop{})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, m := range l.x.members {
		action := make([]float32, worldAct)
		if err := m.Agent.Act(&agent.Acting{Copies: 1, Obs: make([]float32, worldObs), Actions: action, Episodes: []uint64{0}}); err != nil || !finite(float64(action[0])) {
			t.Errorf("the policy that was kept acts %v, %v", action, err)
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
