package tui

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/testing/racing"
	"pgrlab/tui/pane"
)

// Every key that the help lists acts in every pane, or says in a line where it does what: nothing is
// swallowed.
func TestNoKeyIsSwallowed(t *testing.T) {
	racing.Skip(t)
	s := running(t, 160, 45, 24_000)
	for _, p := range s.panes {
		for _, b := range s.palette.keys {
			for _, key := range b.Keys {
				if slices.ContainsFunc(s.palette.keys, func(own pane.Binding) bool { return own.Matches(key, p.ID()) }) {
					continue
				}
				s.GoTo(p.ID())
				before := s.View()
				s.press(key)
				if s.View() == before {
					t.Errorf("%s in %s: nothing happens, and nothing is said", key, p.ID())
				}
				s.press("esc", "esc")
			}
		}
	}
}

// What a key that does nothing says.
func TestAKeyOfAnotherPaneSaysWhere(t *testing.T) {
	s := running(t, 250, 45, 24_000)
	for _, c := range []struct {
		in        pane.ID
		key, says string
	}{
		{pane.Knobs, "]", "] does nothing here; in a chart (2): show the next quantity in this chart"},
		{pane.Knobs, "y", "y does nothing here; in a chart (2): logarithmic vertical axis for this quantity"},
		{pane.Knobs, "x", "the charts count critic updates"},
		{pane.Knobs, "s", "smoothing 0.6"},
		{pane.Knobs, "b", "charts drawn with"},
		{pane.Knobs, "J", "no marker yet"},
		{pane.Knobs, ",", "the charts show all there is on that side"},
		{pane.Phase, "right", "→ does nothing here; in KNOBS (1): stage the next value of the knob; in a chart (2): the measurement after"},
		{pane.Scores, "/", "/ does nothing here; in EVENTS (8): show only the events that contain a text or are of a kind"},
		{pane.Chart1, "enter", "in MAP (7): what the map shows first"},
		{pane.Chart1, "y", "return: the vertical axis is logarithmic"},
		{pane.Chart1, "u", "u does nothing: ? lists the keys"},
	} {
		s.GoTo(c.in)
		s.press(c.key)
		if line := s.footer(s.w); !strings.Contains(strings.ToLower(line), strings.ToLower(c.says)) {
			t.Errorf("%s in %s says %q, want %q", c.key, c.in, line, c.says)
		}
	}
	s.press("0")
	if s.focus != pane.Fan {
		t.Errorf("0 goes to %s", s.focus)
	}
}

// A key about all charts acts only where a chart is seen.
func TestAKeyOfUnseenChartsSaysWhere(t *testing.T) {
	s := running(t, 60, 15, 24_000)
	s.press("x")
	s.contains(t, "x does nothing here; in a chart (2)")
}

// A pane that shows everything is not given a whole screen.
func TestZoomNeedsMoreToShow(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.still()
	for _, p := range s.panes {
		s.GoTo(p.ID())
		before := s.layout.places
		if _, seen := s.layout.placeOf(p.ID()); !seen || len(before) == 1 {
			continue
		}
		s.press("+")
		if grown := len(s.layout.places) == 1; grown == strings.Contains(s.message, "shows all it has") {
			t.Errorf("%s: zoomed %v, says %q", p.ID(), grown, s.message)
		}
		if p.ID() == pane.Chart1 && !s.zoomed {
			t.Error("a chart is not zoomed")
		}
		s.press("esc", "esc")
	}
}

// The footer of a chart in 80 columns has what begins something, not only the chart's keys.
func TestFooterOfAChartInFewColumns(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.GoTo(pane.Chart1)
	s.contains(t, "inspect", "L layout", ": command", "f fork", "T lessons", "? help", "q quit")
	s.press(" ")
	s.contains(t, "space resume")
}

// Before the run has started, a key that would change it says so.
func TestKeysBeforeTheRunAreAnswered(t *testing.T) {
	for name, viewer := range map[string]pane.Viewer{"alone": nil, "a screen that may only look": &looking{driven{"ana"}}} {
		s := newScreen(t, 160, 45, func(o *Options) { o.Viewer = viewer })
		for _, b := range s.keysTable() {
			if b.For != pane.ToChange || b.Panes != nil {
				continue
			}
			before := s.View()
			s.press(b.Keys[0])
			if s.View() == before {
				t.Errorf("%s: %s (%s): nothing is said", name, b.Keys[0], b.Name)
			}
			s.press("esc", "esc")
			s.Tell("")
			s.steering.Say("")
		}
	}
}
