package charts

import (
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// quiet is a screen that keeps its message.
type quiet struct {
	pane.Screen
	message string
}

func (*quiet) Changed()         {}
func (q *quiet) Tell(s string)  { q.message = s }
func (*quiet) Focused() pane.ID { return pane.Chart1 }

// The band is level ± 2 flickers of each evaluation from the sixth on; it is left out on small
// charts, beside compared runs and on request, and falls are marked all the same.
func TestBandOfNoise(t *testing.T) {
	m := New(&pane.Run{Screen: &quiet{}, History: history.New(0, 1)}, "lines", "steps")
	for i, y := range []float64{300, 310, 295, 305, 300, 308, 297, 303, 60} {
		m.History.Take(event.Event{Step: 1000 * i, Member: event.NoMember, Body: event.Evaluated{ReturnMean: run.Float(y), Episodes: 10}})
	}
	band, falls := m.noise(80, 20)
	if len(band.Low) != 4 || len(band.High) != 4 || band.Low[0].X != 5000 {
		t.Fatalf("%+v", band)
	}
	n, _ := m.History.Noise(7000)
	if low, high := band.Low[2].Y, band.High[2].Y; low != n.Level-2*n.Flicker || high != n.Level+2*n.Flicker {
		t.Errorf("%v to %v, noise %+v", low, high, n)
	}
	if len(falls) != 1 || falls[0].Y != 60 {
		t.Errorf("falls: %v", falls)
	}
	for name, change := range map[string]func(){
		"off":      func() { m.bandOff = true },
		"compared": func() { m.Others = []pane.Other{{}} },
	} {
		was, others := m.bandOff, m.Others
		change()
		if band, falls := m.noise(80, 20); len(band.Low) != 0 || len(falls) != 1 {
			t.Errorf("%s: %v, falls %v", name, band, falls)
		}
		m.bandOff, m.Others = was, others
	}
	if band, _ := m.noise(49, 20); len(band.Low) != 0 {
		t.Error("a band on a chart of 49 columns")
	}
	if err := m.commandBand("of"); err == nil || m.commandBand("off") != nil || !m.bandOff || m.commandBand("on") != nil || m.bandOff {
		t.Errorf("band of: %v; off is %v", err, m.bandOff)
	}
}

// The cursor on an evaluation says what the noise makes of it.
func TestNoiseInWords(t *testing.T) {
	q := &quiet{}
	m := New(&pane.Run{Screen: q, History: history.New(0, 1)}, "lines", "steps")
	for i, y := range []float64{300, 310, 295, 305, 300, 308, 297, 303, 270, 500, 297} {
		m.History.Take(event.Event{Step: 1000 * (i + 1), Member: event.NoMember, Body: event.Evaluated{ReturnMean: run.Float(y), Episodes: 10}})
	}
	for step, want := range map[int]string{
		3000:  "295 at 3,000: noise unknown before 6 evaluations",
		8000:  "303 at 8,000: 0.1 flickers from the level before it: within the run's noise",
		9000:  "4.6 flickers below the level; 1 in 400 evaluations of recorded runs is",
		10000: "flickers above the level before it",
	} {
		m.Cursor, m.CursorOn = step+1, true
		m.inspectLeft()
		if m.Cursor != step || !strings.Contains(q.message, want) {
			t.Errorf("at %d: %q, want %q", m.Cursor, q.message, want)
		}
	}
}
