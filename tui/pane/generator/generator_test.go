package generator

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// An ensemble's networks are shown with the elites marked, and dropped rows before ended rollouts; a
// narrow pane has what fits. A generation alone leaves what is known of the networks.
func TestAnEnsembleIsShown(t *testing.T) {
	p := New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.Unicode), Snap: &event.Snapshot{}, About: &pane.About{}, History: history.New(0, 1)})
	label := func(name string) string { return name + ": " }
	take := func(step int, constant run.Float, dropped int) {
		p.History.Take(event.Event{Index: step, Step: step, Member: event.NoMember, Body: event.Refit{Steps: 10,
			Ensemble: &event.Ensemble{HeldOut: []run.Float{0.3, 0.1, 0.2}, Constant: constant, Elites: []int{1, 2}},
			Rollouts: &event.Rollouts{Horizon: 3, Begun: 40_000, Rows: 99_990, Ended: 412, Dropped: dropped}}})
	}
	shown := func(w int) []string {
		lines := p.modelLines(w, label)
		for _, l := range lines {
			if theme.Width(l) > w {
				t.Errorf("%q is wider than %d", l, w)
			}
		}
		return lines
	}
	take(1, 1.5, 0)
	if got, want := shown(70), []string{"held out: ○0.300 ●0.100 ●0.200", "elites: 0.100 of a constant's error", "rollouts: 40,000 of 3 steps, 412 ended, 0 rows dropped"}; !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
	if got, want := shown(28), []string{"held out: 0.100 to 0.300", "elites: 0.100", "rollouts: 40,000 of 3 steps"}; !slices.Equal(got, want) {
		t.Errorf("in 28 columns %q, want %q", got, want)
	}
	take(2, 0.75, 7)
	p.History.Take(event.Event{Index: 3, Step: 3, Member: event.NoMember, Body: event.Refit{Generated: 5, Rollouts: &event.Rollouts{Horizon: 1, Begun: 5, Rows: 5, Dropped: 1}}})
	got := shown(60)
	if !strings.HasPrefix(got[1], "elites: 0.200 of a constant's error  ") || got[2] != "rollouts: 5 of 1 step, 0 ended, 1 rows dropped" {
		t.Errorf("after three generations %q", got)
	}
	if got := shown(44)[2]; got != "rollouts: 5 of 1 step, 1 rows dropped" {
		t.Errorf("in 44 columns %q", got)
	}
	last := p.History.Lines[len(p.History.Lines)-1]
	if !last.Warning || last.Text != "5 rows generated, 1 dropped" {
		t.Errorf("event %+v", last)
	}
}
