package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// dreaming is a screen of a run that learns from pixels.
func dreaming(t *testing.T, w, h int, change func(*Options)) *screen {
	t.Helper()
	s := newScreen(t, w, h, func(o *Options) {
		describePixels(o)
		if change != nil {
			change(o)
		}
	})
	s.fake.sees = true
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	return s
}

// describePixels makes a screen's run one that learns from pixels.
func describePixels(o *Options) {
	untrained := 137.0
	o.Config, o.Untrained = fakePixels(), &untrained
	o.References = []pane.Reference{{Source: "paper", Mean: 530, Std: 28, Step: 100_000, Frames: 200_000}}
}

// A run from pixels shows frames beside env steps wherever it shows its progress, and the chart
// shows the return of an untrained policy.
func TestGoldenPixels(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {120, 36}, {80, 24}, {60, 15}} {
		golden(t, fmt.Sprintf("pixels-%dx%d", size.w, size.h), dreaming(t, size.w, size.h, nil).View())
	}
	s := dreaming(t, 160, 45, nil)
	s.contains(t, "step 24,000/100,000 48,000 frames", "a step is 2 frames", "policy at most  paper 530 ± 28 at 100k", "untrained", "frame 48,000")
	s.typeLine("axis wall")
	s.contains(t, "╌ untrained")
	s.press("2", "i", "left")
	s.contains(t, "step 23,000, frame 46,000")
	states := running(t, 160, 45, 24_000)
	if strings.Contains(states.View(), "frame") || strings.Contains(states.View(), "untrained") {
		t.Error("a run from states counts frames")
	}
}

// The pane of an agent that learns from pixels shows its stack and, where there is room, how shifts
// changed frames of a batch.
func TestGoldenSeen(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := dreaming(t, size.w, size.h, nil)
		s.press("v")
		for range 2 {
			s.clock = s.clock.Add(time.Second)
			s.Update(polled{})
		}
		golden(t, fmt.Sprintf("seen-%dx%d", size.w, size.h), s.View())
	}
}

func TestGoldenDreams(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := dreaming(t, size.w, size.h, nil)
		s.typeLine("dreams")
		s.View()      // the view says how many dreams there is room for
		for range 2 { // the screen asks, and gets an answer
			s.clock = s.clock.Add(time.Second)
			s.Update(polled{})
		}
		golden(t, fmt.Sprintf("dreams-%dx%d", size.w, size.h), s.View())
		for i, l := range strings.Split(s.View(), "\n") {
			if theme.Width(l) > size.w {
				t.Errorf("%dx%d: line %d has %d columns", size.w, size.h, i, theme.Width(l))
			}
		}
	}
}

// dreamsAsked counts the requests for dreams and returns the last one.
func (s *screen) dreamsAsked() (n int, last event.Dreams) {
	for _, c := range s.fake.commands {
		if d, is := c.(event.Dreams); is {
			n, last = n+1, d
		}
	}
	return n, last
}

// Dreams are requested while they can be seen, as many as there is room for and at most twice a
// second; a map is never requested.
func TestDreamsAreAskedForWhileTheyAreSeen(t *testing.T) {
	s := dreaming(t, 160, 45, nil)
	look := func(times int) {
		for range times {
			s.clock = s.clock.Add(100 * time.Millisecond)
			s.Update(polled{})
			s.View()
		}
	}
	if look(20); func() int { n, _ := s.dreamsAsked(); return n }() != 0 {
		t.Error("they are asked for unseen")
	}
	s.press("7")
	look(50) // five seconds
	n, last := s.dreamsAsked()
	if n < 9 || n > 10 || last.Rows != 16 {
		t.Errorf("asked %d times in five seconds, last for %d rows", n, last.Rows)
	}
	s.contains(t, "DREAMS", "nearest real frame of 23,900", "by F, curiosity", "real ones 0.310 apart", "forgotten", "not finite")
	s.typeLine("layout present")
	s.typeLine("dreams")
	look(1)
	if strings.Contains(s.View(), "x dimension") {
		t.Error("the keys of the map are among the hints")
	}
	s.press("1")
	before, _ := s.dreamsAsked()
	look(50)
	if now, _ := s.dreamsAsked(); now != before {
		t.Errorf("asked %d times more unseen", now-before)
	}
	for _, c := range s.fake.commands {
		if _, is := c.(event.Map); is {
			t.Error("a run of latents is asked for a map of dimensions")
		}
	}
	s.typeLine("map speed x, pitch")
	s.contains(t, "no dimensions with names")
}

// Without dreams, the pane and the command say why.
func TestNoDreams(t *testing.T) {
	replay := dreaming(t, 160, 45, func(o *Options) { o.Replay = true })
	replay.typeLine("pane dreams")
	replay.contains(t, "a journal holds no frames: dreams")
	replay.typeLine("pane agent")
	replay.contains(t, "a journal holds no frames: what an agent sees")
	if strings.Contains(replay.View(), "newest frame large") {
		t.Error("a replay says where a picture comes from that it has not")
	}
	alone := dreaming(t, 160, 45, func(o *Options) {
		o.Config.Method, o.Config.Generator.Kind, o.Config.Knobs.Ratio = "drqv2", "none", 0
	})
	alone.typeLine("pane dreams")
	alone.contains(t, "drqv2 learns from frames and generates no rows")
	states := running(t, 160, 45, 24_000)
	s := dreaming(t, 160, 45, nil)
	s.typeLine("dreams")
	s.fake.snapshot.Dreamt = &event.Dreamt{Unknown: "no synthetic rows yet"}
	s.TouchPane(pane.Map)
	s.contains(t, "no synthetic rows yet")
	states.typeLine("map")
	for _, s := range []*screen{s, states} {
		for state, want := range map[event.State]string{event.Running: "asking the run", event.Finished: "the run has ended: this is seen while it goes on"} {
			unanswered := *s.fake.snapshot
			unanswered.State, unanswered.Dreamt, unanswered.Map = state, nil, nil
			s.fake.snapshot = &unanswered
			s.Update(polled{})
			s.contains(t, want)
		}
	}
}
