package tui

import (
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/steer"
)

// Of two changes that fit only together the one that makes room is sent first, whatever their order in the
// table is.
func TestStagedKnobsAreSentInAnOrderThatFits(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.steering.About.Config.Buffer = s.steering.About.Config.Knobs.Samples // else no change fits
	sent := func() (names []string) {
		for _, c := range s.fake.commands {
			if c, is := c.(event.SetKnob); is {
				names = append(names, c.Knob+"="+c.Value)
			}
		}
		s.fake.commands = nil
		return names
	}
	for _, c := range []struct {
		from, to map[string]knob.Value
		want     string
	}{
		{map[string]knob.Value{"hold": knob.Choice(knob.HoldReal), "ratio": knob.Number(0.75)}, map[string]knob.Value{"hold": knob.Choice(knob.HoldBatch), "ratio": knob.Number(1)}, "[hold=batch ratio=1]"},
		{map[string]knob.Value{"hold": knob.Choice(knob.HoldBatch), "ratio": knob.Number(1)}, map[string]knob.Value{"hold": knob.Choice(knob.HoldReal), "ratio": knob.Number(0.75)}, "[ratio=0.75 hold=real]"},
		{map[string]knob.Value{"hold": knob.Choice(knob.HoldBatch)}, map[string]knob.Value{"hold": knob.Choice(knob.HoldReal), "ratio": knob.Number(1)}, "[ratio=1 hold=real]"}, // refused by the run, one of them
	} {
		for name, v := range c.from {
			s.fake.set(name, v.String(), "", false, 0)
		}
		s.fake.publish()
		s.Update(polled{})
		s.fake.commands = nil
		s.steering.Send(c.to, steer.WhenDue, nil)
		s.Update(polled{})
		if got := fmt.Sprint(sent()); got != c.want {
			t.Errorf("from %v: sent %s, want %s", c.from, got, c.want)
		}
	}
}

// A value is scheduled even if it is the present one, and what is staged besides stays so.
func TestAValueIsScheduledBack(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("stage tau 0.1")
	s.typeLine("guidance 5 @30000")
	s.typeLine("guidance 2 @40000")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Value != "2" || c.At == nil || c.At.Step != 40_000 {
		t.Errorf("sent %+v", s.lastCommand())
	}
	s.typeLine("utd 3")
	s.typeLine("utd 3")
	s.contains(t, "utd is 3 already")
	s.typeLine("F td")
	s.contains(t, "apply F curiosity → td")
	s.press("enter")
	if got := s.steering.Staged; len(got) != 1 || got["tau"] != knob.Number(0.1) || s.values()["utd"].Number != 3 {
		t.Errorf("staged %v, utd %v", got, s.values()["utd"])
	}
}

// A text that is refused stays, with the reason beside it, until it is right.
func TestARefusedTextStays(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}, {40, 10}} {
		s := running(t, size[0], size[1], 24_000)
		s.press("down", "e", "1", "1", "enter")
		if s.contains(t, "guidance: 11 is out"); s.entry == nil || s.entry.Text() != "11" {
			t.Fatalf("the entry is %+v", s.entry)
		}
		s.press("backspace")
		if strings.Contains(s.View(), "11 is out") {
			t.Error("the reason stays after a correction")
		}
		if s.press("enter"); s.steering.Staged["guidance"].Number != 1 || s.entry != nil {
			t.Errorf("staged %v", s.steering.Staged)
		}
		s.press("@", "5", "enter")
		if s.contains(t, "step 5 has passed"); s.entry == nil {
			t.Fatal("the step was taken")
		}
		s.press("backspace", "3", "0", "0", "0", "0", "enter")
		if c, ok := s.lastCommand().(event.SetKnob); !ok || c.At == nil || c.At.Step != 30_000 || c.Value != "1" {
			t.Errorf("sent %+v", s.lastCommand())
		}
	}
}

// A change is planned for no step after the end, at the prompt as with @.
func TestNothingIsPlannedAfterTheEnd(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	n := len(s.fake.commands)
	for line, want := range map[string]string{"guidance 3 @100001": "step 100,001 is after the end: the run has 100,000", "guidance 3 @23999": "step 23,999 has passed"} {
		s.typeLine(line)
		if s.contains(t, want); len(s.fake.commands) != n {
			t.Errorf("%q sent %+v", line, s.lastCommand())
		}
	}
	s.typeLine("guidance 3 @100000")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.At == nil || c.At.Step != 100_000 {
		t.Errorf("sent %+v", s.lastCommand())
	}
}

// z takes the last change off the schedule if it is only planned, and an older one back only after that.
func TestUndoCancelsAPlan(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("ratio 0.75")
	s.fake.advance(10)
	s.typeLine("tau 0.1 @90000")
	s.press("z")
	if c, ok := s.lastCommand().(event.Cancel); !ok || c.Knob != "tau" || c.Value != "0.1" || c.At.String() != "90000" {
		t.Fatalf("sent %+v", s.lastCommand())
	}
	s.contains(t, "for step 90,000 · cancelled by screen")
	s.press("z")
	if s.contains(t, "(undoes #1)"); s.values()["ratio"].Number == 0.75 {
		t.Error("the change before the plan is not undone")
	}
}

// z twice takes two plans off the schedule, and does not reach past a plan that still stands.
func TestUndoCancelsTheLastPlanFirst(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("ratio 0.75")
	s.fake.advance(10)
	s.typeLine("tau 0.1 @90000")
	s.typeLine("guidance 5 @90000")
	var got []string
	for range 3 {
		s.press("z")
		switch c := s.lastCommand().(type) {
		case event.Cancel:
			got = append(got, c.Knob)
		case event.Undo:
			got = append(got, "undo")
		}
	}
	if fmt.Sprint(got) != "[guidance tau undo]" {
		t.Errorf("z sent %v", got)
	}
}

// Of several plans, cancel needs the knob, and the step if there are several of the knob; it lists them.
func TestCancelNamesAPlan(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	says := func(line, want string) {
		t.Helper()
		n := len(s.fake.commands)
		s.typeLine(line)
		if s.contains(t, want); len(s.fake.commands) != n {
			t.Errorf("%q sent %+v", line, s.lastCommand())
		}
	}
	says("cancel", "nothing is planned")
	s.typeLine("tau 0.1 @90000")
	s.typeLine("tau 0.2 @95000")
	s.typeLine("guidance 5 @30000")
	says("cancel", "which one? tau @90000 (0.1), tau @95000 (0.2), guidance @30000 (5)")
	says("cancel tau", "which one? tau @90000 (0.1), tau @95000 (0.2)")
	says("cancel ratio", "no such change is planned, but tau @90000")
	says("cancel nonsense", "nonsense")
	s.typeLine("tau 0.3 @30000")
	says("cancel @30000", "which one? guidance @30000 (5), tau @30000 (0.3)")
	s.typeLine("cancel tau @30000")
	says("cancel tau @9x", `position "9x"`)
	for _, line := range []string{"cancel τ @95000", "cancel @90000", "cancel"} {
		s.typeLine(line)
	}
	var cancelled []string
	for _, c := range s.fake.commands {
		if c, ok := c.(event.Cancel); ok {
			cancelled = append(cancelled, c.Knob+" "+c.At.String())
		}
	}
	if got := fmt.Sprint(cancelled); got != "[tau 30000 tau 95000 tau 90000 guidance 30000]" {
		t.Errorf("cancelled %s", got)
	}
	says("cancel", "nothing is planned")
}

// A plan that another screen made, or a run before its resume, has no line of its own to show that it
// was cancelled.
func TestACancelledPlanOfOthersIsSeen(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.fake.emit(event.TypeCancelled, event.Cancelled{At: knob.After(90_000), Knob: "tau", Value: "0.1", Of: "ana", By: "bo"})
	s.fake.publish()
	s.Update(polled{})
	s.contains(t, "tau 0.1 for step 90,000: cancelled by bo")
}

// The run is no longer what its configuration says if a person cancels what that plans.
func TestACancelledPlanOfTheConfigurationTouchesTheRun(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.contains(t, "CLEAN")
	s.fake.emit(event.TypeCancelled, event.Cancelled{At: knob.After(90_000), Knob: "tau", Value: "0.1", By: "bo"})
	s.fake.publish()
	s.Update(polled{})
	s.contains(t, "TOUCHED ×1")
}

// What is refused and was not asked for here is a line with its reason, and no change from an unknown value.
func TestRefusalsOfOthers(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	for _, b := range []event.Refused{{Knob: "resume", Reason: "the device is gone"}, {Knob: "tau", Value: "0.1", Reason: "cancel: nothing is planned"}, {Knob: "tau", Value: "7", Reason: "tau: 7 is too large"}} {
		s.fake.emit(event.TypeRefused, b)
	}
	s.fake.publish()
	s.Update(polled{})
	s.contains(t, "resume: the device is gone", "tau 0.1: cancel: nothing is planned", " tau: 7 is too large")
	if strings.Contains(s.View(), "0 → ") || s.History.LastStanding() != nil {
		t.Error("a refusal is shown as a change")
	}
}

// The border of F VALUES names the step of its histograms, and their F once another one is chosen.
func TestFValuesNameWhatTheyShow(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	show := func(of string) {
		s.fake.emit(event.TypeRefit, event.Refit{F: &event.RefitF{Of: of, At: 20_000, Real: fakeHistogram(0.25, 0.12), Achieved: fakeHistogram(0.55, 0.2)}})
		s.fake.publish()
		s.Update(polled{})
	}
	show("curiosity")
	s.contains(t, "curiosity, scored at step 20,000", "real medians")
	show("td")
	if s.contains(t, "td, scored at step 20,000"); strings.Contains(s.View(), "real medians") {
		t.Error("medians of another F")
	}
}
