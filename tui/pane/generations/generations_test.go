package generations

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

func dreamPane(t *testing.T, changes ...string) *Pane {
	t.Helper()
	c, err := presets.Resolve(presets.Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		c.Agent.Learner = change
	}
	return New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.Unicode), Snap: &event.Snapshot{}, About: &pane.About{Config: c}, History: history.New(0, 1)})
}

// generation takes a refit and its description.
func (p *Pane) generation(step, steps int, got, change run.Float) {
	p.History.Take(event.Event{Step: step, Member: event.NoMember, Body: event.Refit{Steps: steps, Generated: 1000, F: &event.RefitF{
		Of: "curiosity", At: 1, Real: &event.Histogram{Median: 0.001}, Asked: &event.Histogram{Median: 0.002}, Achieved: &event.Histogram{Median: got},
	}}})
	p.History.Take(event.Event{Step: step, Member: event.NoMember, Body: event.Generated{Rows: 100, OutsideStates: 0.02, Coverage: 0.83, Dynamics: &event.Dynamics{Change: change}}})
}

// Each generation has a row with the knobs as they were for it, the newest first, and the newest is
// compared with the one before it.
func TestGenerationsStandBesideEachOther(t *testing.T) {
	p := dreamPane(t, "none")
	if got := strings.Join(p.Body(98, 10), "\n"); !strings.Contains(got, "no generation yet") {
		t.Errorf("before the first: %q", got)
	}
	p.generation(1, 500, 0.001, 0.2)
	p.History.Take(event.Event{Step: 1, Member: event.NoMember, Body: event.KnobChanged{ID: 1, Knob: "guidance", From: knob.Number(2), To: knob.Number(3)}})
	p.generation(2, 0, 0.0015, 0.3)
	lines := p.Body(98, 12)
	for i, want := range [][]string{
		{"F", "ω", "k", "F asked", "got", "s'-s err", "covered"},
		{"2", "curiosity", "3", "0.0015", "0.300", "83%"},
		{"1 fit", "curiosity", "2", "0.001", "0.200"},
		{},
		{"ω 2 → 3: F that came out ×1.50, s'-s err 0.200 → 0.300"},
	} {
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("line %d is %q, without %q", i, lines[i], w)
			}
		}
	}
	for w := 98; w >= 20; w -= 7 {
		for _, l := range p.Body(w, 12) {
			if theme.Width(l) > w {
				t.Errorf("%q is wider than %d", l, w)
			}
		}
	}
	if narrow := p.Body(30, 12)[1]; !strings.Contains(narrow, "0.300") || !strings.Contains(narrow, "3") {
		t.Errorf("in 30 columns %q: ω and the error of s' matter most", narrow)
	}
	if lines := p.Body(98, 3); len(lines) != 3 || !strings.Contains(lines[2], "1 fit") {
		t.Errorf("in 3 lines %q", lines)
	}
}

// A run with an agent names the steps of its generations.
func TestGenerationsOfARun(t *testing.T) {
	p := dreamPane(t)
	p.generation(2500, 500, 0.001, 0.2)
	if got := p.Body(98, 5)[1]; !strings.HasPrefix(strings.TrimSpace(got), "2,500 ") {
		t.Errorf("%q", got)
	}
}
