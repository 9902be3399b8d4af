package lab

import (
	"math"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// The rates of a line perf count all time since the line before it: they are neither 0 nor those of
// the evaluation when that took longer than the time over which screens show rates.
func TestRatesOfPerfHoldALongEvaluation(t *testing.T) {
	w, extra := newWorld(), time.Duration(0)
	w.on("act mean 3", func() { extra += 10 * time.Second })
	now := clock()
	l, err := newLab(inEnvSteps(w.config()), w.task(), nil, w.parts(), "cpu test, 2 threads", func() time.Time { return now().Add(extra) })
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, steps := bodies[event.Perf](l)
	before := 0
	for i, p := range found {
		s := p.Spent
		took := float64(s.Act + s.Agent + s.Models + s.Score + s.Fit + s.Generate + s.Evaluate + s.Analyse)
		if made := float64(p.StepsPerSec) * took; s.Evaluate < 10 || math.Abs(made-float64(steps[i]-before)) > 1e-6 {
			t.Errorf("step %d: %g steps/s in %g s, %g of them evaluation, want %d steps", steps[i], p.StepsPerSec, took, s.Evaluate, steps[i]-before)
		}
		before = steps[i]
	}
	if last := found[len(found)-1]; last.UpdatesPerSec <= 0 {
		t.Errorf("%g updates/s", last.UpdatesPerSec)
	}
}

// A run that is resumed counts from where it goes on: how far it was at the line before is not saved.
func TestRatesOfPerfAfterAResume(t *testing.T) {
	c := newWorld().config()
	w := newWorld()
	l := w.lab(t, c, nil)
	x := l.x
	x.Step = 7
	x.meter.On(0, x.now())
	x.loaded()
	began := x.now()
	x.Step = 10
	x.meter.On(0, began)
	took := x.standing().spent - x.reported.spent
	if got := x.perf().StepsPerSec; got != run.Float(3/took.Seconds()) || took <= 0 {
		t.Errorf("%g steps/s of 3 steps in %s", got, took)
	}
	if x.reported != (standing{step: 10}) {
		t.Errorf("the next line counts from %+v", x.reported)
	}
}
