package charts

import (
	"math"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/chart"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// The seeds of a run are one line with a band, or one line each after a key press; quantities with
// several lines show the mean of each.
func TestSeedsOfACohortOnAChart(t *testing.T) {
	m := New(&pane.Run{History: history.New(0, 1)}, "lines", "steps")
	for step := range 3 {
		for member := range 4 {
			m.History.Take(event.Event{Step: 10 * step, Member: member, Body: event.Evaluated{ReturnMean: run.Float(float64(member)), Episodes: 1}})
			m.History.Take(event.Event{Step: 10 * step, Member: member, Body: event.Dormant{Ratio: run.Float(float64(member) / 10)}})
		}
	}
	of := func(id string) quantity {
		i, _ := QuantityIndex(id)
		return Quantities[i]
	}
	s := m.Series(of("return"))
	if len(s) != 1 || s[0].Points[2].Y != 1.5 || s[0].Low[2].Y != 0 || s[0].High[2].Y != 3 {
		t.Fatalf("%d lines: %+v", len(s), s)
	}
	if d := m.Series(of("dormant")); len(d) != 2 || d[0].High == nil || d[1].High != nil {
		t.Errorf("%d lines of dormant ratios: %+v", len(d), d)
	}
	m.Projected = true // a dot for each seed in place of the band
	if s = m.Series(of("return")); len(s) != 5 || s[0].High != nil || s[4].Draw != chart.Dots || s[4].Points[0].Y != 3 || s[4].Look != s[0].Look {
		t.Errorf("%d lines on a projector: %+v", len(s), s)
	}
	m.Projected = false
	m.seeds = true
	if s = m.Series(of("return")); len(s) != 4 || s[3].Points[0].Y != 3 || s[0].Low != nil || s[1].Look == s[2].Look {
		t.Errorf("%d lines of seeds: %+v", len(s), s)
	}
	if d := m.Series(of("dormant")); len(d) != 2 {
		t.Errorf("%d lines of dormant ratios", len(d))
	}
}

// A replay that is wound back to less than the width of its zoomed charts shows them from the beginning.
func TestZoomedChartsOfAReplayWoundBack(t *testing.T) {
	m := New(&pane.Run{History: history.New(0, 1)}, "lines", "steps")
	m.Window = window{zoomed: true, Follow: true, lo: 500, hi: 1000}
	for step, want := range map[int][2]float64{200: {0, 500}, 700: {200, 700}} {
		m.History = history.New(0, 1)
		m.History.Take(event.Event{Step: step, Member: event.NoMember, Body: event.Evaluated{ReturnMean: 1, Episodes: 1}})
		if lo, hi := m.Span(); lo != want[0] || hi != want[1] {
			t.Errorf("at step %d: %v to %v, want %v", step, lo, hi, want)
		}
	}
}

// Evaluations whose returns are no numbers are evaluations.
func TestAChartOfReturnsThatAreNoNumbers(t *testing.T) {
	m := New(&pane.Run{History: history.New(0, 0)}, "lines", "steps")
	i, _ := QuantityIndex("return")
	before := m.reason(Quantities[i])
	m.History.Take(event.Event{Step: 10, Member: event.NoMember, Body: event.Evaluated{ReturnMean: run.Float(math.NaN()), Episodes: 1}})
	if after := m.reason(Quantities[i]); before != "no evaluation yet" || after != "no return is a number: it diverged" || !m.empty(Quantities[i]) {
		t.Errorf("%q, then %q", before, after)
	}
}
