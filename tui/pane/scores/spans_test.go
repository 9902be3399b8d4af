package scores

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
	"pgrlab/tui/theme"
)

func drawn(all []span, w, h int) []string {
	v := New(&steer.Steering{Run: &pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.ASCII)}})
	return v.spanLines(all, w, h)
}

// Spans from 0.001 to 1 are drawn on a logarithmic scale: a median of 0.1 lies two thirds of the
// way.
func TestSpansLieWhereTheirNumbersAre(t *testing.T) {
	all := []span{{name: "real", q10: 0.001, median: 0.01, q90: 0.1}, {name: "D_syn", q10: 0.01, median: 0.1, q90: 1}}
	lines := drawn(all, 61, 9)
	want := []string{
		"real  ----------*----------           med 0.010 p90 0.100",
		"D_syn           ----------*---------- med 0.100 p90 1.00",
		"      0.0010                     1.00  log",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s", strings.Join(lines, "\n"))
	}
}

// Spans are linear where one of the values is not above 0. Spans without a spread, and values that
// are not numbers, are also drawn in lines of the given width.
func TestSpansOfAnyNumbers(t *testing.T) {
	if on := axisOf([]span{{q10: -1, median: 0, q90: 3}}); on.log || on.column(0, 41) != 10 {
		t.Errorf("%+v, 0 at column %d", on, on.column(0, 41))
	}
	nan := math.NaN()
	for _, all := range [][]span{{{name: "real", q10: 2, median: 2, q90: 2}}, {{name: "real", q10: nan, median: nan, q90: nan}}, {{name: "real", median: 5, q90: math.Inf(1)}}} {
		for _, w := range []int{1, 8, 25, 40, 58, 158} {
			for h := 1; h < 4; h++ {
				lines := drawn(all, w, h)
				if len(lines) > h {
					t.Errorf("%d lines in %d", len(lines), h)
				}
				for _, l := range lines {
					if theme.Width(l) > w {
						t.Errorf("%q in %d columns", l, w)
					}
				}
			}
		}
	}
}
