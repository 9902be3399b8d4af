package tui

import (
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// A run that is over shows its result, no phase and no future refit, and only keys that do
// something.
func TestEndedRun(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {120, 36}, {80, 24}} {
		s := running(t, size[0], size[1], 100_000)
		s.contains(t, "✓ DONE", "done: all 100,000 steps", "return ")
		for _, text := range []string{"collect+train", "next refit in", " eta ", "steps/s", "change the selected knob", "! now", "pause", "enter apply", "n note", "f fork"} {
			if strings.Contains(s.View(), text) {
				t.Errorf("%v: an ended run shows %q:\n%s", size, text, s.View())
			}
		}
		s.GoTo(pane.Generator)
		s.contains(t, "none to come")
		s.press("f")
		if s.dialog != nil || s.message != "the run has ended: pgrlab fork runs/x --set KNOB=VALUE forks it" {
			t.Errorf("f says %q", s.message)
		}
	}
}

// A run that was stopped early does not claim to have made all its steps.
func TestStoppedRun(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.state = event.Finished
	s.fake.publish()
	s.Update(polled{})
	s.contains(t, "stopped at step 24,000 of 100,000")
	if strings.Contains(s.View(), "done: all") {
		t.Errorf("it says that all steps are done:\n%s", s.View())
	}
}

// At every width the header drops speed and time to go before it drops task, method and seed.
func TestHeaderKeepsWhatRuns(t *testing.T) {
	for w, want := range map[int][]string{220: {"cheetah-run", "pgr-curiosity", "seed 3", "24%", "eta"}, 160: {"cheetah-run", "pgr-curiosity", "seed 3", "24%", "eta"},
		80: {"cheetah-run", "pgr-curiosity", "seed 3", "24%", "eta"}, 60: {"cheetah-run", "24%", "eta"}, 40: {"cheetah-run", "24%"}} {
		s := running(t, w, 24, 24_000)
		for _, text := range want {
			if got := s.headline.line(w); !strings.Contains(got, text) {
				t.Errorf("%d columns: %q has no %q", w, got, text)
			}
		}
		s.press("down", "down", "right", "enter")
		for _, text := range []string{"cheetah-run", "TOUCHED", "pgr-curiosity", "seed 3"} {
			if (text == "pgr-curiosity" || text == "seed 3") && w < 80 {
				continue
			}
			if got := s.headline.line(w); !strings.Contains(got, text) && (w > 40 || text == "TOUCHED") {
				t.Errorf("touched, %d columns: %q has no %q", w, got, text)
			}
		}
	}
}

// A description of D_syn puts its numbers in one line: from 80 columns on, what its labels and its
// prompts are worth; in a wide pane, all of them.
func TestEventsKeepTheNumbersOfDsyn(t *testing.T) {
	for _, size := range [][2]int{{220, 60}, {160, 45}, {80, 24}} {
		s := running(t, size[0], size[1], 24_000)
		for _, l := range s.History.Lines {
			if l.Kind != "D_syn" {
				continue
			}
			p, _ := s.layout.placeOf(pane.Events)
			text := strings.Join(s.events.EventText(l, p.w-4, 6), " ")
			for _, want := range []string{"error 0.", "change 0.", "0.83", "2%"} {
				if want == "2%" && size[0] < 100 {
					continue
				}
				if !strings.Contains(text, want) {
					t.Errorf("%v: %q has no %q", size, text, want)
				}
			}
		}
	}
}

// A change shows what it waits for, and shows as under way while that is being made.
func TestChangeUnderWay(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "right", "!")
	s.fake.setPhase(knob.Generate, 3, 10)
	s.Update(polled{})
	s.contains(t, "under way: generate")
	if strings.Contains(s.View(), "waits for the next generation") {
		t.Errorf("it waits for what is being made:\n%s", s.View())
	}
}

// A change that another one of its knob overtook waits for nothing, unless a refit under way had read it.
func TestChangeOvertaken(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	set := func(id int, to float64) {
		s.fake.emit(event.TypeKnob, event.KnobChanged{ID: id, Knob: "guidance", From: knob.Number(2), To: knob.Number(to), Class: knob.ClassGeneration, Position: knob.After(24_000)})
	}
	set(1, 3)
	set(2, 4)
	set(3, 5)
	s.Update(polled{})
	s.contains(t, "overtaken by #2", "overtaken by #3", "waits for the next generation")
	for _, id := range []int{1, 3} {
		s.fake.emit(event.TypeInForce, event.InForce{ID: id, Knob: "guidance"})
	}
	s.Update(polled{})
	s.contains(t, "overtaken by #3", "▲1,3")
	if text := s.View(); strings.Contains(text, "waits for") || strings.Contains(text, "overtaken by #2") {
		t.Errorf("a change still waits:\n%s", text)
	}
}

// A change that is in force in a part of D_syn says how much of it is new, and then that all of it is, or
// never will be.
func TestChangeInAPartOfDSyn(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	set := func(id int, to float64) {
		s.fake.emit(event.TypeKnob, event.KnobChanged{ID: id, Knob: "guidance", From: knob.Number(2), To: knob.Number(to), Class: knob.ClassGeneration, Position: knob.After(24_000)})
		s.fake.emit(event.TypeInForce, event.InForce{ID: id, Knob: "guidance", Share: 0.25})
	}
	set(1, 3)
	s.fake.setShare(0.5)
	s.Update(polled{})
	s.contains(t, "in force 24,000 · 50% of D_syn… whole in 7s", "since #1: <1% of D_real, 50% of D_syn")
	set(2, 4)
	s.fake.setShare(0.25)
	s.Update(polled{})
	s.contains(t, "in force 24,000 · never whole", "25% of D_syn… whole in 7s")
	s.fake.emit(event.TypeWhole, event.Whole{ID: 2, Knob: "guidance"})
	s.fake.setShare(0)
	s.Update(polled{})
	s.contains(t, "in force 24,000 · never whole", "in force 24,000 · whole 24,000")
	if text := s.View(); strings.Contains(text, "whole in") || strings.Contains(text, "% new") {
		t.Errorf("D_syn is whole:\n%s", text)
	}
}

// A refit counts once it is complete, and a generation alone is none.
func TestPhaseCountsCompleteRefits(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.contains(t, "┤ 2 refits ├")
	s.fake.refits++ // as the fit begins
	s.fake.setPhase(knob.Fit, 3, 10)
	s.Update(polled{})
	s.contains(t, "┤ 2 refits ├")
	s.fake.emit(event.TypeRefit, event.Refit{Generated: 100})
	s.Update(polled{})
	s.contains(t, "┤ 2 refits ├")
	s.fake.emit(event.TypeRefit, event.Refit{Steps: 10, Generated: 100})
	s.Update(polled{})
	s.contains(t, "┤ 3 refits ├")
}

// A learner's own updates have a bar only if they take long enough to watch.
func TestPhaseOfQuickUpdates(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.setPhase(knob.Learn, 2, 3)
	s.Update(polled{})
	s.contains(t, "return so far")
	s.fake.setPhase(knob.Learn, 200, 3000)
	s.Update(polled{})
	s.contains(t, "200/3,000")
}
