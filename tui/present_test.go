package tui

import (
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// The data and updates since a change are counted from the change, whenever the screen opens: with
// the run, in its middle, or after a resume.
func TestExposureDoesNotDependOnTheScreen(t *testing.T) {
	first := newScreen(t, 160, 45, func(o *Options) { o.Config.StartSteps = 5000 })
	first.Update(started{lab: first.fake})
	look := func(steps int) {
		first.fake.advance(steps)
		first.Update(polled{})
	}
	for _, turn := range []struct {
		knob, value string
		then        int
		want        string
	}{
		{"lr_critic", "0.001", 2000, "since #1: 22% of D_real, 0% of D_syn, 40,000 updates"},
		{"utd", "10", 1000, "since #2: 10% of D_real, 100% of D_syn, 20,000 updates"}, // the script makes 20 updates a step, whatever the knob says
		{"tau", "0.01", 1, "since #3: <1% of D_real, 0% of D_syn, 20 updates"},        // the refit after the same env step was before it
	} {
		if turn.knob == "lr_critic" {
			look(7000)
			first.fake.refits = 1
		}
		first.fake.Send(event.SetKnob{Knob: turn.knob, Value: turn.value})
		look(turn.then)
		late := newScreen(t, 160, 45, func(o *Options) { o.Config.StartSteps = 5000 })
		late.Update(started{lab: first.fake})
		late.Update(polled{})
		if got := first.knobs.Exposure(); got != late.knobs.Exposure() || got != turn.want {
			t.Errorf("%s: %q on the first screen, %q on a later one, want %q", turn.knob, got, late.knobs.Exposure(), turn.want)
		}
	}
}

// The key that changes the panel of the layout present comes to every pane.
func TestTabChangesThePanelOfPresent(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.setView(presentView)
	seen := map[pane.ID]bool{}
	for range 2 * len(s.panes) {
		s.press("tab")
		seen[s.focus] = true
		if !s.layout.visible(s.focus) {
			t.Errorf("the layout does not show %s", s.focus)
		}
	}
	for _, id := range []pane.ID{pane.Knobs, pane.Chart2, pane.Phase} {
		if !seen[id] {
			t.Errorf("tab never comes to %s", id)
		}
	}
}
