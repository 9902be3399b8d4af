package cpu

import (
	"testing"
	"time"
)

// simulate makes runs of which each way takes what it is told, and counts those
// that were done alone.
func simulate(a *adaptive, runs int, alone, together func(run int) time.Duration) (solo int) {
	for run := range runs {
		if a.choose() {
			solo++
			a.record(true, alone(run))
		} else {
			a.record(false, together(run))
		}
	}
	return solo
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// The quicker way is found within a few runs and kept but for probes, also where
// the first runs are slow because memory is touched for the first time.
func TestTheQuickerWayIsTaken(t *testing.T) {
	cold := func(run int) time.Duration {
		if run < 2 {
			return time.Second
		}
		return 50 * time.Millisecond
	}
	const runs = 320
	if solo := simulate(&adaptive{}, runs, always(90*time.Millisecond), cold); solo > trials+runs/probeEvery+1 {
		t.Errorf("%d of %d runs were done alone, which is slower", solo, runs)
	}
	if solo := simulate(&adaptive{}, runs, always(50*time.Millisecond), always(90*time.Millisecond)); runs-solo > coldRuns+trials+runs/probeEvery+1 {
		t.Errorf("%d of %d runs were done together, which is slower", runs-solo, runs)
	}
}

// When the machine becomes idle, or busy, the choice follows within some probes.
func TestTheChoiceFollowsTheMachine(t *testing.T) {
	a := &adaptive{}
	fast, slow := 50*time.Millisecond, 200*time.Millisecond
	simulate(a, 100, always(90*time.Millisecond), always(slow))
	if !a.prefersAlone() {
		t.Fatal("together is preferred on a busy machine")
	}
	simulate(a, 6*probeEvery, always(90*time.Millisecond), always(fast))
	if a.prefersAlone() {
		t.Error("alone is still preferred on an idle machine")
	}
	simulate(a, 60, always(90*time.Millisecond), always(slow))
	if !a.prefersAlone() {
		t.Error("together is still preferred on a busy machine")
	}
}
