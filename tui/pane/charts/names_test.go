package charts

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// A person who sees a curve can name it, in a narrow border too, without colour and in ASCII: the legend
// has the mark of each line that is drawn, each mark once, and no line that is not.
func TestTheLegendNamesEachCurve(t *testing.T) {
	critic, model, loss := run.Float(0.31), run.Float(0.07), run.Float(0.5)
	for _, set := range []theme.CharacterSet{theme.Unicode, theme.ASCII} {
		for _, measured := range []int{2, 2 * fewDots} { // with dots, and as lines alone
			m := New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), set), Screen: &quiet{}, Snap: &event.Snapshot{}, About: &pane.About{}, History: history.New(0, 1)}, "lines", "steps")
			m.Quantity[pane.Chart1], _ = QuantityIndex("losses")
			for i := range measured {
				m.History.Take(event.Event{Step: 1000 * i, Member: event.NoMember, Body: event.Losses{Critic: &critic, Curiosity: &model}})
			}
			for room, want := range map[int][]string{60: {"critic 0.310", "ICM 0.070"}, 26: {"critic 0.310", "ICM"}, 14: {"critic", "ICM"}, 13: {"crit.", "ICM"}} {
				note := m.chartNote(pane.Chart1, room)
				if theme.Width(note) > room || strings.Contains(note, "generator") {
					t.Errorf("%v, %d measurements, in %d columns: %q", set, measured, room, note)
				}
				for _, name := range want {
					if !strings.Contains(note, name) {
						t.Errorf("%v, %d measurements, in %d columns: %q lacks %s", set, measured, room, note, name)
					}
				}
			}
			m.History.Take(event.Event{Step: 9000, Body: event.Refit{Steps: 10, Loss: &loss}})
			words := strings.Fields(m.chartNote(pane.Chart1, 26))
			if len(words) != 6 || words[1] != "critic" || words[3] != "ICM" || !strings.HasPrefix(words[5], "gener") {
				t.Fatalf("%v: %q", set, words)
			}
			marks := map[string]bool{words[0]: true, words[2]: true, words[4]: true}
			body := strings.Join(m.ChartBody(pane.Chart1, 60, 12), "\n")
			for mark := range marks {
				if len(marks) != 3 || !strings.Contains(body, mark) {
					t.Errorf("%v, %d measurements: the marks %v, drawn is\n%s", set, measured, marks, body)
				}
			}
		}
	}
}
