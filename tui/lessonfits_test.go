package tui

import (
	"strings"
	"testing"
)

// A lesson that the rest of the run is too short for is not offered, and refused with the numbers;
// the list says what the others take.
func TestLessonsThatFitTheRun(t *testing.T) {
	for _, c := range []struct {
		at, steps int
		offered   string // as in the list
		refused   string // the lesson's title and the reason; "": none
	}{
		{21_000, 100_000, "what a dormant neuron is, about 4 min, 7,000 steps", ""},
		{21_000, 28_001, "what a dormant neuron is, about 4 min, 7,000 steps", ""},
		{21_000, 28_000, "what ω does, about 2 min", "what a dormant neuron is: takes 7,000 steps, and 7,000 are left"},
		{21_500, 25_000, "what ω does, about 2 min", "what a dormant neuron is: takes 6,500 steps, and 3,500 are left"},
	} {
		s := newScreen(t, 160, 45, func(o *Options) { o.Config.Evaluation.Every = 1000 })
		s.fake.steps = c.steps
		s.fake.advance(c.at)
		s.Update(started{lab: s.fake})
		s.press("T")
		s.contains(t, c.offered)
		if c.refused == "" {
			continue
		}
		s.contains(t, c.refused)
		s.press("esc")
		s.typeLine("lesson dormant")
		if s.lessons.Given() || !strings.Contains(s.View(), "begin it in a longer run") {
			t.Errorf("at %d of %d it begins:\n%s", c.at, c.steps, s.View())
		}
	}
	early := newScreen(t, 160, 45, nil)
	early.fake.steps = 9_000
	early.fake.advance(2_000)
	early.Update(started{lab: early.fake})
	early.fake.snapshot.NextRefit = 0
	early.press("T")
	early.contains(t, "what ω does: waits for a refit, and none is to come")
}

// A lesson that was gone through is summed up in one line, with the next one; what it staged last
// stays staged. One that was left is not.
func TestLessonsSumUp(t *testing.T) {
	s := running(t, 160, 45, 21_000)
	s.typeLine("lesson guidance")
	s.goThrough(t)
	s.contains(t, "lesson over, what ω does: ", "of 2 claims held", "T goes on with: what PGR is")
	if v, staged := s.steering.Staged["guidance"]; !staged || v.Number != 4 {
		t.Errorf("staged: %v", s.steering.Staged)
	}
	s.press("esc")
	s.typeLine("lesson guidance")
	s.press("esc")
	if strings.Contains(s.View(), "lesson over") {
		t.Error("a lesson that was left is summed up")
	}
}
