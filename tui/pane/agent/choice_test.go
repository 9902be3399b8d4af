package agent

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// The options of a choice are named, each with its chance, and the chosen one is marked. Options
// without names have numbers, and without chances only the chosen one is shown.
func TestChoices(t *testing.T) {
	chances := []float32{0.12, 0.08, 0.8}
	for _, c := range []struct {
		names   []string
		chances []float32
		v       float64
		action  []float32
		h       int
		want    []string
	}{
		{[]string{"left", "right", "fire"}, chances, 1.5, []float32{0, 0, 1}, 5, []string{"V 1.50 of s", "action and chances by π(s)", "left 12%", "right 8%", ">fire 80%"}},
		{nil, chances, math.NaN(), []float32{1, 0, 0}, 4, []string{"action and chances by π(s)", ">1 12%", "2 8%", "3 80%"}},
		{[]string{"left", "right", "fire"}, nil, math.NaN(), []float32{0, 1, 0}, 9, []string{"action right"}},
		{[]string{"left", "right", "fire"}, chances, 1.5, []float32{0, 0, 1}, 4, []string{"V 1.50 of s", "action fire 80%"}},
		{nil, chances, math.NaN(), []float32{0, 0, 0}, 9, []string{"action -"}},
		{nil, nil, math.NaN(), []float32{0, 0, 0}, 9, []string{"action -"}},
	} {
		p := New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.ASCII), About: &pane.About{Choices: c.names}})
		var got []string
		for _, line := range p.choiceFacts(&event.Moment{Action: c.action, Chances: c.chances, V: c.v}, c.h) {
			if w := theme.Width(line); w > agentColumns {
				t.Errorf("%q is %d columns wide, want at most %d", line, w, agentColumns)
			}
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}
