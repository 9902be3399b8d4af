package theme

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// A small change does not look like a large one, and the range is shown beside it.
func TestSparklinesHaveARange(t *testing.T) {
	th := New(lipgloss.NewRenderer(io.Discard), Unicode)
	heights := func(text string) (lo, hi int) {
		lo = len(th.Glyphs.Blocks)
		for i, b := range th.Glyphs.Blocks {
			if strings.Contains(text, b) {
				lo, hi = min(lo, i), max(hi, i)
			}
		}
		return lo, hi
	}
	loss := []float64{0.58, 0.6, 0.61, 0.63}
	if lo, hi := heights(th.sparkline(loss, 10)); hi-lo > 2 {
		t.Errorf("0.58 to 0.63 spans %d of 8 heights", hi-lo+1)
	}
	if lo, hi := heights(th.sparkline([]float64{0.1, 0.9}, 10)); hi-lo != 7 {
		t.Errorf("0.1 to 0.9 spans %d of 8 heights", hi-lo+1)
	}
	for w := range 40 {
		got := th.Trend(loss, w)
		if Width(got) > max(w, 0) {
			t.Errorf("%q is wider than %d", got, w)
		}
		if (w >= 17) != strings.HasSuffix(got, " 0.580..0.630") {
			t.Errorf("in %d columns: %q", w, got)
		}
	}
}
