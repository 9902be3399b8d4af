package tui

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
)

// P parks and resumes; a run on a GPU that is only paused is parked by it.
func TestParkKey(t *testing.T) {
	press := func(device string, state lab.State, parked bool) lab.Command {
		f := newFake()
		m := New(Options{Config: fakeConfig()})
		m.options.Config.Device = device
		m.lab, m.snap = f, &lab.Snapshot{State: state, Parked: parked}
		m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("P")})
		if len(f.commands) != 1 {
			t.Fatalf("%s, %s: %d commands", device, state, len(f.commands))
		}
		return f.commands[0]
	}
	var got []lab.Command
	got = append(got, press("cuda", lab.Running, false), press("cuda", lab.PausedState, false), press("cuda", lab.PausedState, true),
		press("cpu", lab.Running, false), press("cpu", lab.PausedState, false))
	park, resume := lab.Command(lab.Park{By: sender}), lab.Command(lab.Resume{By: sender})
	if want := []lab.Command{park, park, resume, park, resume}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
