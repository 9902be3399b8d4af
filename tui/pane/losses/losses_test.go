package losses

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// A learner that explores by noise has it in the place of α; others have α, also where a checkpoint
// of an older build says nothing of noise.
func TestNoiseStandsInThePlaceOfAlpha(t *testing.T) {
	nan := math.NaN()
	for noise, want := range map[float64]string{0.82: "noise", nan: "α", 0: "α"} {
		x := New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.ASCII), History: history.New(0, 1), Snap: &event.Snapshot{}})
		x.Snap.Losses = &event.UpdateLosses{Critic: 1, Actor: 2, Alpha: nan, QMean: 3, Noise: noise, Model: nan}
		body := strings.Join(x.Body(40, 10), "\n")
		if !strings.Contains(body, want) || strings.Contains(body, "noise") != (want == "noise") || want == "noise" && !strings.Contains(body, "0.82") {
			t.Errorf("noise %g:\n%s", noise, body)
		}
	}
}
