package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// truths is a screen that shows synthetic rows of states beside the truth.
func truths(t *testing.T, w, h int, change func(*Options)) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		o.Draw = stripes
		if change != nil {
			change(o)
		}
	})
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	s.press("t")
	s.clock = s.clock.Add(time.Second)
	for range 2 { // the screen asks, and gets an answer
		s.Update(polled{})
	}
	return s
}

// A dream stands beside the truth: three poses, a verdict, and the numbers with the most wrong ones
// first. Nothing is wider than the screen.
func TestGoldenTruth(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := truths(t, size.w, size.h, nil)
		golden(t, fmt.Sprintf("truth-%dx%d", size.w, size.h), s.View())
		for i, l := range strings.Split(s.View(), "\n") {
			if theme.Width(l) > size.w {
				t.Errorf("%dx%d: line %d has %d columns", size.w, size.h, i, theme.Width(l))
			}
		}
	}
	s := truths(t, 160, 45, nil)
	s.contains(t, "dream 1 of 32", "F 0.900 curiosity", "LIES off by 2.20", "s' as the generator dreamt it", "-3.50", "1 of 31 lie")
	if view := s.View(); strings.Index(view, "height ") > strings.Index(view, "pitch ") || strings.Index(view, "pitch ") > strings.Index(view, "back thigh ") {
		t.Error("the numbers are not in the order of their errors")
	}
	s.press("right")
	s.contains(t, "dream 2 of 32", "no truth: the task cannot be set to this s")
	s.press("right")
	s.contains(t, "dream 3 of 32", "TRUE off by 0.060", "no such state")
	for range 60 {
		s.press("right")
	}
	s.contains(t, "dream 32 of 32", "ROUGHLY TRUE off by 0.930")
	s.press("x")
	s.contains(t, "dream 1 of 32")
	s.press("left")
	s.contains(t, "dream 1 of 32")
	s.press("t")
	if s.focus != pane.Knobs || strings.Contains(s.View(), "DREAMS") {
		t.Errorf("back at %v", s.focus)
	}
}

// Rows are requested once a second while they can be seen. Where there are none, the pane says why;
// tabs and tab leave it out where it would never have any.
func TestTruthIsAskedForWhileItIsSeen(t *testing.T) {
	s := truths(t, 160, 45, nil)
	before, last := s.dreamsAsked()
	for range 50 {
		s.clock = s.clock.Add(100 * time.Millisecond)
		s.Update(polled{})
	}
	if now, _ := s.dreamsAsked(); now-before < 4 || now-before > 5 || last.Rows != event.MostDreams {
		t.Errorf("asked %d times in five seconds, for %d rows", now-before, last.Rows)
	}
	s.press("1")
	before, _ = s.dreamsAsked()
	for range 50 {
		s.clock = s.clock.Add(100 * time.Millisecond)
		s.Update(polled{})
	}
	if now, _ := s.dreamsAsked(); now != before {
		t.Errorf("asked %d times unseen", now-before)
	}
	early := newScreen(t, 160, 45, nil)
	early.fake.advance(500)
	early.Update(started{lab: early.fake})
	early.press("t")
	early.contains(t, "nothing is generated yet")
	truths(t, 160, 45, func(o *Options) { o.Replay = true }).contains(t, "a journal holds no rows")
	without := newScreen(t, 80, 24, func(o *Options) {
		o.Config.Generator.Kind, o.Config.Method = config.GeneratorNone, "sac"
	})
	without.fake.advance(500)
	without.Update(started{lab: without.fake})
	without.typeLine("dreams")
	without.contains(t, "sac generates no rows")
	without.press("t")
	for range 40 {
		without.press("tab")
		if without.focus == pane.Dreams {
			t.Error("tab leads to dreams that cannot be")
		}
	}
}
