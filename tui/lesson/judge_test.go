package lesson

import (
	"math"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/rng"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

// A reveal follows from the numbers of the run: the same claim held, did not hold, or cannot be
// decided.
func TestJudge(t *testing.T) {
	r := presets.Reveal{Claim: "rises", Margin: 0.1}
	for _, c := range []struct {
		from, to measured
		want     verdict
	}{
		{measured{value: 1, err: 0}, measured{value: 1.2, err: 0}, held},
		{measured{value: 1, err: 0}, measured{value: 0.8, err: 0}, didNotHold},
		{measured{value: 1, err: 0}, measured{value: 1.05, err: 0}, cannotTell},
		{measured{value: 1, err: 0.2, n: 3}, measured{value: 1.3, err: 0.2, n: 3}, cannotTell},
		{measured{value: 1, err: 0.05, n: 3}, measured{value: 1.3, err: 0.05, n: 3}, held},
		{measured{value: 1, err: 0.05, n: 2}, measured{value: 1.3, err: 0.05, n: 2}, cannotTell}, // t of two degrees of freedom is 4.3
		{measured{value: 1, err: math.Inf(1), n: 1}, measured{value: 9, err: 0.1, n: 3}, cannotTell},
		{measured{value: 1, n: 1}, measured{value: 3, err: 0.1, n: 3}, held},
		{measured{value: math.NaN(), err: 0}, measured{value: 1, err: 0}, cannotTell},
		{measured{value: 1}, measured{value: 9, forks: new(0)}, cannotTell},
		{measured{value: 1}, measured{value: 1.01, forks: new(1)}, held},
		{measured{value: 1}, measured{value: 0.99, forks: new(-1)}, didNotHold},
	} {
		if got := judge(r, c.from, c.to); got != c.want {
			t.Errorf("%v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// The typical error is the geometric mean, with the standard error that its logarithms have.
func TestTypicalErrors(t *testing.T) {
	m := typical([]float64{0.1, 10})
	if math.Abs(m.value-1) > 1e-12 || math.Abs(m.err-math.Log(10)) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if m := typical([]float64{0}); m.value != 1e-3 && math.Abs(m.value-1e-3) > 1e-12 || m.err != 0 {
		t.Errorf("no error: %+v", m)
	}
	if m := typical(nil); !math.IsNaN(m.value) {
		t.Errorf("of none: %+v", m)
	}
}

// A number that is to come from several measurements decides nothing where there is one.
func TestOneMeasurementOfSeveral(t *testing.T) {
	for n, decides := range map[int]bool{1: false, 3: true} {
		d := &event.Dreamt{}
		for i := range 2 * n {
			d.Rows = append(d.Rows, event.Dream{Truth: &event.Truth{Off: float64(i + 1)}})
		}
		x := &Lessons{Steering: steer.New(&pane.Run{Snap: &event.Snapshot{Dreamt: d}, History: history.History{Grounds: []event.Grounded{{Neighbours: make([]run.Float, n)}}}})}
		for _, of := range []string{"ground", "off_high", "off_low"} {
			if m := x.measureNow(presets.Keep{Of: of}); m.n != n || math.IsInf(m.err, 1) == decides {
				t.Errorf("%s of %d: %+v", of, n, m)
			}
		}
	}
}

// Where nothing differs, few evaluations of equal spread give a verdict in no more than 5 of 100 cases, and the
// more of them there are the smaller a difference they see.
func TestVerdictsOfNothing(t *testing.T) {
	const cases = 2000
	draws := rng.New(1, "lesson")
	r := presets.Reveal{Claim: "rises"}
	for i, n := range [][2]int{{2, 2}, {3, 3}, {2, 3}, {16, 16}} {
		verdicts, seen := 0, 0
		for k := range cases {
			numbers := draws.At(uint64(i*cases + k))
			of := func(n int, more float64) measured {
				var all []float64
				for range n {
					all = append(all, 100+more+10*numbers.Norm())
				}
				return meanOf(all)
			}
			if judge(r, of(n[0], 0), of(n[1], 0)) != cannotTell {
				verdicts++
			}
			if judge(r, of(n[0], 0), of(n[1], 30)) == held {
				seen++
			}
		}
		if share := float64(verdicts) / cases; share > 0.06 || share < 0.01 {
			t.Errorf("%d against %d: %.3f have a verdict", n[0], n[1], share)
		}
		if share := float64(seen) / cases; i == 3 && share < 0.99 || i == 0 && share > 0.6 {
			t.Errorf("%d against %d: %.3f see three deviations", n[0], n[1], share)
		}
	}
}
