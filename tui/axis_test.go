package tui

import (
	"errors"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
)

// A compared run has critic updates by its own configuration; a run without one is left out where
// the charts count them.
func TestComparedRunsHaveTheirOwnUpdates(t *testing.T) {
	configuration, unreadable := fakeConfig(), errors.New("written by another version")
	configuration.Knobs.UTD, configuration.StartSteps = 1, 5000
	s := newScreen(t, 160, 45, func(o *Options) {
		o.LoadRun = func(string) ([]event.Event, error) { return another("0", 15_000), nil }
		o.LoadConfig = func(dir string) (config.Config, error) {
			if dir == "sac" {
				return configuration, nil
			}
			return config.Config{}, unreadable
		}
	})
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	compare := func(dir string) {
		s.press(":")
		for _, r := range "compare " + dir {
			s.Update(keyMsg(string(r)))
		}
		_, cmd := s.Update(keyMsg("enter"))
		s.Update(cmd())
	}
	compare("sac")
	s.contains(t, "B is sac, drawn beside this run, A; esc takes it away")
	compare("old")
	s.contains(t, "C is old", "its config.toml cannot be read, so it is left out over updates")
	s.GoTo(pane.Chart1)
	ends := func() map[string]float64 {
		of := map[string]float64{}
		for _, series := range s.charts.Series(charts.Quantities[0]) {
			of[series.Label] = series.Points[len(series.Points)-1].X
		}
		return of
	}
	if of := ends(); len(of) != 3 || of["C"] != 15_000 {
		t.Errorf("over steps the curves end at %v", of)
	}
	s.press("x")
	if of := ends(); len(of) != 2 || of["A"] != 480_000 || of["B"] != 10_000 {
		t.Errorf("over updates the curves end at %v, want A at 480,000 and B at 10,000", of)
	}
	s.contains(t, "critic updates; C is left out: its config.toml cannot be read")
}

// All that was measured is no window, whichever key leads there: it grows with the run.
func TestChartsThatShowEverythingAreNotZoomed(t *testing.T) {
	for name, keys := range map[string][]string{
		"out on the wall axis": {"x", "x", "-"}, "later on the wall axis": {"x", "x", "."}, "later": {"."}, "earlier": {","}, "in, out": {"=", "-"},
	} {
		s := running(t, 110, 40, 24_000)
		s.GoTo(pane.Chart1)
		s.press(keys...)
		_, before := s.charts.Span()
		s.fake.advance(24_000)
		s.Update(polled{})
		lo, hi := s.charts.Span()
		if title, _ := s.titleOf(pane.Chart1, 100); lo != 0 || hi != 2*before || strings.Contains(title, "zoomed") {
			t.Errorf("%s: to %v, and twice the steps later %v to %v: %s", name, before, lo, hi, title)
		}
	}
}

// Charts that show steps still to come can be moved there, and those that reach the newest
// measurement follow it.
func TestPanningBeyondTheNewestMeasurement(t *testing.T) {
	s := running(t, 110, 40, 24_000)
	s.GoTo(pane.Chart1)
	for _, c := range []struct {
		key    string
		lo, hi float64
	}{{"-", 0, 48_000}, {".", 12_000, 60_000}, {",", 0, 48_000}, {"g", 0, 24_000}, {"=", 12_000, 24_000}, {".", 12_000, 24_000}, {",", 9_000, 21_000}, {".", 12_000, 24_000}} {
		s.press(c.key)
		if lo, hi := s.charts.Span(); lo != c.lo || hi != c.hi {
			t.Errorf("%s shows %v to %v, want %v to %v", c.key, lo, hi, c.lo, c.hi)
		}
	}
	s.fake.advance(1_000)
	s.Update(polled{})
	if lo, hi := s.charts.Span(); lo != 13_000 || hi != 25_000 {
		t.Errorf("following shows %v to %v", lo, hi)
	}
}

// A cursor beyond the run does not take the charts there.
func TestZoomWithTheCursorBeyondTheRun(t *testing.T) {
	s := running(t, 110, 40, 24_000)
	s.GoTo(pane.Chart1)
	s.typeLine("goto 1000000")
	s.press("=")
	if lo, hi := s.charts.Span(); lo != 12_000 || hi != 24_000 {
		t.Errorf("zoomed to %v..%v", lo, hi)
	}
	s.press("-")
	if lo, hi := s.charts.Span(); lo != 0 || hi != 24_000 {
		t.Errorf("and out to %v..%v", lo, hi)
	}
}

// After the last marker there is none to show.
func TestNoMarkerIsShownAfterTheLast(t *testing.T) {
	s := running(t, 110, 40, 5000)
	s.typeLine("ratio 0.25")
	s.fake.advance(10_000)
	s.Update(polled{})
	s.GoTo(pane.Chart1)
	s.press("left", "J")
	if s.message != "" {
		t.Errorf("it says %q", s.message)
	}
	s.press("K")
	if !strings.Contains(s.message, "#1") {
		t.Errorf("it says %q", s.message)
	}
}
