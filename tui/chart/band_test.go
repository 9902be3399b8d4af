package chart

import (
	"strings"
	"testing"
)

// A band is drawn between its ends, behind the line, and the vertical range includes it.
func TestBand(t *testing.T) {
	c := &Chart{Glyphs: ASCII(), Series: []Series{{
		Points: []Point{{0, 5}, {10, 5}}, Low: []Point{{0, 4}, {10, 2}}, High: []Point{{0, 6}, {10, 8}},
	}}}
	text := strings.Join(c.Lines(40, 14), "\n")
	if !strings.Contains(text, "8 |") || !strings.Contains(text, "2 |") {
		t.Errorf("the range does not hold the band:\n%s", text)
	}
	filled, line := 0, 0
	for row := range strings.Lines(text) {
		_, plot, _ := strings.Cut(row, "|")
		filled += strings.Count(plot, ".")
		line = max(line, strings.Count(plot, "-"))
	}
	if filled < 100 || line < 30 {
		t.Errorf("%d cells of band, %d of the line:\n%s", filled, line, text)
	}
	c.Series[0].Low, c.Series[0].High = nil, nil
	if text := strings.Join(c.Lines(40, 14), ""); strings.Contains(text, "..") {
		t.Errorf("a band without one:\n%s", text)
	}
}
