package history

import (
	"math"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// The seeds of a cohort share one line and one evaluation, and have their own curves beside their
// mean and their band.
func TestACohortIsSeenAsOne(t *testing.T) {
	h := New(0, 1)
	index := 0
	take := func(step, member int, body any) {
		h.Take(event.Event{Index: index, Step: step, Member: member, Body: body})
		index++
	}
	returns := map[int][]float64{10: {3, 5, 10}, 20: {6, 0, 0}}
	for _, step := range []int{10, 20} {
		for member, r := range returns[step] {
			take(step, member, event.Refit{Steps: 5, Generated: 7})
			take(step, member, event.Evaluated{ReturnMean: run.Float(r), ReturnStd: 1, Episodes: 2})
			take(step, member, event.Dormant{Ratio: run.Float(r / 10)})
		}
	}
	if len(h.Evaluations) != 2 || len(h.Dormant) != 2 || len(h.Refits) != 2 {
		t.Fatalf("%d evaluations, %d dormant ratios, %d refits, want 2 of each", len(h.Evaluations), len(h.Dormant), len(h.Refits))
	}
	for i, want := range []struct{ mean, std, low, high, dormant float64 }{{6, math.Sqrt(13), 3, 10, .6}, {2, math.Sqrt(12), 0, 6, .2}} {
		e := h.Evaluations[i]
		if math.Abs(e.Mean-want.mean) > 1e-6 || math.Abs(e.Std-want.std) > 1e-6 || e.Of() != "3 seeds" {
			t.Errorf("evaluation %d: %v ± %v over %s, want %v", i, e.Mean, e.Std, e.Of(), want)
		}
		at := func(step int, _ float64) float64 { return float64(step) }
		low, high := h.Band(CurveReturn, at)
		if low[i].Y != want.low || high[i].Y != want.high || h.Main(CurveReturn).Samples[i].Y != want.mean {
			t.Errorf("at %v: from %v to %v around %v, want %v", low[i].X, low[i].Y, high[i].Y, h.Main(CurveReturn).Samples[i].Y, want)
		}
		if math.Abs(h.Dormant[i].Sokar-want.dormant) > 1e-6 {
			t.Errorf("%v dormant, want %v", h.Dormant[i].Sokar, want.dormant)
		}
	}
	if c := h.Curve(CurveReturn, 1); c.Samples[0].Y != 5 || c.Samples[1].Y != 0 {
		t.Errorf("the second seed's returns: %v", c.Samples)
	}
	kinds := map[string]int{}
	for _, l := range h.Lines {
		kinds[l.Kind]++
	}
	if kinds["eval"] != 2 || kinds["refit"] != 2 || h.Lines[1].Text != "return 6.00 ± 3.61 over 3 seeds" {
		t.Errorf("lines %v; %+v", kinds, h.Lines)
	}
}

// A single seed has no band, and its curve is its own.
func TestOneSeedIsNoCohort(t *testing.T) {
	h := New(0, 1)
	h.Take(event.Event{Step: 10, Member: event.NoMember, Body: event.Evaluated{ReturnMean: 4, ReturnStd: 1, Episodes: 2}})
	if low, high := h.Band(CurveReturn, nil); low != nil || high != nil {
		t.Error("one seed has a band")
	}
	if e := h.Evaluations[0]; e.Std != 1 || e.Of() != "2 episodes" || h.Main(CurveReturn) != h.Curve(CurveReturn, 0) {
		t.Errorf("%+v", e)
	}
}

// Scores of another F begin after a gap in the curves of all seeds, their mean and their band.
func TestAnotherFIsNotJoined(t *testing.T) {
	h := New(0, 1)
	for i, f := range []string{"curiosity", "curiosity", "reward", "reward"} {
		h.Take(event.Event{Index: i, Step: 10 + i/2, Member: i % 2, Body: event.Scores{Relevance: f, Quantiles: []run.Float{1, 2, 3}}})
	}
	for member := most; member < 2; member++ {
		if s := h.Curve(CurveF50, member).Samples; len(s) != 3 || s[0].Y != 2 || !math.IsNaN(s[1].Y) || s[2].Y != 2 {
			t.Errorf("member %d: %v", member, s)
		}
	}
}
