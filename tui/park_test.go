package tui

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

// P parks and resumes; a run on a GPU that is only paused is parked by P.
func TestParkKey(t *testing.T) {
	press := func(device string, state event.State, parked bool) event.Command {
		f := newFake()
		m := New(Options{About: pane.About{Config: fakeConfig()}})
		m.options.Config.Device = device
		m.Lab, m.Snap = f, &event.Snapshot{State: state, Parked: parked}
		m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("P")})
		if len(f.commands) != 1 {
			t.Fatalf("%s, %s: %d commands", device, state, len(f.commands))
		}
		return f.commands[0]
	}
	var got []event.Command
	got = append(got, press("cuda", event.Running, false), press("cuda", event.PausedState, false), press("cuda", event.PausedState, true),
		press("cpu", event.Running, false), press("cpu", event.PausedState, false))
	park, resume := event.Command(event.Park{By: steer.Sender}), event.Command(event.Resume{By: steer.Sender})
	if want := []event.Command{park, park, resume, park, resume}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
