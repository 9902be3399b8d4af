package cpu

import (
	"testing"
	"time"
)

// simulate makes runs of which each way takes what it is told, and counts those
// that were done alone. before is how many runs in a row the way has been taken.
func simulate(a *adaptive, runs int, took func(w way, before int) time.Duration) (solo int) {
	var last way
	before := 0
	for range runs {
		w := a.choose()
		if w != last {
			last, before = w, 0
		}
		if w == alone {
			solo++
		}
		a.record(took(w, before))
		before++
	}
	return solo
}

// takes is a machine on which the ways take so long, in hundredths of a millisecond.
func takes(onesOwn, shared time.Duration) func(way, int) time.Duration {
	return func(w way, _ int) time.Duration {
		if w == alone {
			return onesOwn * 10 * time.Microsecond
		}
		return shared * 10 * time.Microsecond
	}
}

// The quicker way is found within a few runs and kept but for trials, which
// become rare.
func TestTheQuickerWayIsTaken(t *testing.T) {
	const runs = 2000
	if solo := simulate(&adaptive{}, runs, takes(90, 50)); solo > runs/50 {
		t.Errorf("%d of %d runs were done alone, which is slower", solo, runs)
	}
	if solo := simulate(&adaptive{}, runs, takes(50, 90)); runs-solo > runs/20 {
		t.Errorf("%d of %d runs were done together, which is slower", runs-solo, runs)
	}
}

// A way that is slow at first, because memory is cold or the helper asleep, but
// quicker in a stretch, is taken.
func TestAWayIsJudgedByAStretchOfIt(t *testing.T) {
	first := func(w way, before int) time.Duration {
		if w == together && before == 0 {
			return 9 * time.Millisecond
		}
		return takes(90, 60)(w, before)
	}
	a := &adaptive{}
	if simulate(a, 400, first); a.way != together {
		t.Error("working alone is preferred, which is slower")
	}
	a = &adaptive{}
	simulate(a, 100, takes(90, 200))
	if simulate(a, 400, first); a.way != together {
		t.Error("working alone is preferred after a busy time, which is slower")
	}
}

// When the machine becomes idle, or busy, the choice follows.
func TestTheChoiceFollowsTheMachine(t *testing.T) {
	a := &adaptive{}
	simulate(a, 1000, takes(90, 50))
	if a.way != together {
		t.Fatal("alone is preferred on an idle machine")
	}
	if simulate(a, 60, takes(90, 200)); a.way != alone {
		t.Error("together is still preferred 60 runs after the machine became busy")
	}
	simulate(a, 1000, takes(90, 200))
	if simulate(a, latestAlone+trialRuns, takes(90, 50)); a.way != together {
		t.Error("alone is still preferred on an idle machine")
	}
}

// One run that was held up says nothing.
func TestAHiccupDecidesNothing(t *testing.T) {
	for _, w := range []way{together, alone} {
		a := &adaptive{}
		quick, slow := time.Duration(50), time.Duration(90)
		if w == alone {
			quick, slow = slow, quick
		}
		simulate(a, 300, takes(slow, quick))
		a.record(time.Minute)
		if simulate(a, 300, takes(slow, quick)); a.way != w {
			t.Errorf("one slow run has changed the choice from %d to %d", w, a.way)
		}
	}
}

// A run that is long is a trial by itself: others would cost more than they tell.
func TestLongRunsAreTriedOnce(t *testing.T) {
	a := &adaptive{}
	if solo := simulate(a, coldRuns+2*trialRuns, takes(16_000, 10_000)); solo != 1 || a.way != together {
		t.Errorf("%d runs of 160 ms were done alone, want 1, and the other way to be taken", solo)
	}
}

// A long run that was held up, and by which working alone was chosen, costs few others.
func TestALongRunThatWasHeldUpCostsFew(t *testing.T) {
	a, runs := &adaptive{}, 0
	solo := simulate(a, 100, func(w way, _ int) time.Duration {
		if runs++; runs == coldRuns+1 {
			return 90 * time.Millisecond
		}
		return takes(5_400, 2_800)(w, 0)
	})
	if solo > 2*soonestLong || a.way != together {
		t.Errorf("%d of 100 runs of 28 ms were done alone, at 54 ms, after one of 90", solo)
	}
	a = &adaptive{}
	if simulate(a, 1000, takes(2_800, 5_400)); a.way != alone || a.every != latestAlone {
		t.Errorf("where working alone is quicker, the other way is tried every %d runs, want %d", a.every, latestAlone)
	}
}
