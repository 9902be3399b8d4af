package adapt

import (
	"testing"
	"time"
)

// simulate makes runs that take the time that took returns for their way, and counts those that
// were done alone. before is the number of runs in a row that have already used the way.
func simulate(a *Choice, runs int, took func(w Way, before int) time.Duration) (solo int) {
	var last Way
	before := 0
	for range runs {
		w := a.Choose()
		if w != last {
			last, before = w, 0
		}
		if w == Alone {
			solo++
		}
		a.Record(took(w, before))
		before++
	}
	return solo
}

// takes is a machine on which the two ways take the given times, in hundredths of a millisecond.
func takes(onesOwn, shared time.Duration) func(Way, int) time.Duration {
	return func(w Way, _ int) time.Duration {
		if w == Alone {
			return onesOwn * 10 * time.Microsecond
		}
		return shared * 10 * time.Microsecond
	}
}

// The quicker way is found within a few runs and then kept, except for trials, which become rare.
func TestTheQuickerWayIsTaken(t *testing.T) {
	const runs = 2000
	if solo := simulate(&Choice{}, runs, takes(90, 50)); solo > runs/50 {
		t.Errorf("%d of %d runs were done alone, which is slower", solo, runs)
	}
	if solo := simulate(&Choice{}, runs, takes(50, 90)); runs-solo > runs/20 {
		t.Errorf("%d of %d runs were done together, which is slower", runs-solo, runs)
	}
}

// A way that is slow at first, because memory is cold or the helper is asleep, but quicker over
// several runs, is taken.
func TestAWayIsJudgedByAStretchOfIt(t *testing.T) {
	first := func(w Way, before int) time.Duration {
		if w == Together && before == 0 {
			return 9 * time.Millisecond
		}
		return takes(90, 60)(w, before)
	}
	a := &Choice{}
	if simulate(a, 400, first); a.way != Together {
		t.Error("working alone is preferred, which is slower")
	}
	a = &Choice{}
	simulate(a, 100, takes(90, 200))
	if simulate(a, 400, first); a.way != Together {
		t.Error("working alone is preferred after a busy time, which is slower")
	}
}

// When the machine becomes idle, or busy, the choice follows.
func TestTheChoiceFollowsTheMachine(t *testing.T) {
	a := &Choice{}
	simulate(a, 1000, takes(90, 50))
	if a.way != Together {
		t.Fatal("alone is preferred on an idle machine")
	}
	if simulate(a, 60, takes(90, 200)); a.way != Alone {
		t.Error("together is still preferred 60 runs after the machine became busy")
	}
	simulate(a, 1000, takes(90, 200))
	if simulate(a, latestAlone+trialRuns, takes(90, 50)); a.way != Together {
		t.Error("alone is still preferred on an idle machine")
	}
}

// A single run that was delayed does not change the choice.
func TestAHiccupDecidesNothing(t *testing.T) {
	for _, w := range []Way{Together, Alone} {
		a := &Choice{}
		quick, slow := time.Duration(50), time.Duration(90)
		if w == Alone {
			quick, slow = slow, quick
		}
		simulate(a, 300, takes(slow, quick))
		a.Record(time.Minute)
		if simulate(a, 300, takes(slow, quick)); a.way != w {
			t.Errorf("one slow run has changed the choice from %d to %d", w, a.way)
		}
	}
}

// A long run is a complete trial: more runs would cost more than they tell.
func TestLongRunsAreTriedOnce(t *testing.T) {
	a := &Choice{}
	if solo := simulate(a, coldRuns+2*trialRuns, takes(16_000, 10_000)); solo != 1 || a.way != Together {
		t.Errorf("%d runs of 160 ms were done alone, want 1, and the other way to be taken", solo)
	}
}

// If a long run was delayed and working alone was chosen because of it, only few other runs pay for
// this.
func TestALongRunThatWasHeldUpCostsFew(t *testing.T) {
	a, runs := &Choice{}, 0
	solo := simulate(a, 100, func(w Way, _ int) time.Duration {
		if runs++; runs == coldRuns+1 {
			return 90 * time.Millisecond
		}
		return takes(5_400, 2_800)(w, 0)
	})
	if solo > 2*soonestLong || a.way != Together {
		t.Errorf("%d of 100 runs of 28 ms were done alone, at 54 ms, after one of 90", solo)
	}
	a = &Choice{}
	if simulate(a, 1000, takes(2_800, 5_400)); a.way != Alone || a.every != latestAlone {
		t.Errorf("where working alone is quicker, the other way is tried every %d runs, want %d", a.every, latestAlone)
	}
}
