package theme

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// Large numbers have as many lines as they say, all of one width, which grows with the scale; digits differ.
func TestLargeNumbers(t *testing.T) {
	for _, set := range []CharacterSet{Unicode, Console, ASCII} {
		th := New(lipgloss.NewRenderer(io.Discard), set)
		seen := map[string]rune{}
		for c := range digits {
			for scale := 1; scale <= 3; scale++ {
				lines := th.Big("1"+string(c), scale)
				if len(lines) != th.BigRows(scale) {
					t.Errorf("%q at scale %d: %d lines, want %d", c, scale, len(lines), th.BigRows(scale))
				}
				for _, l := range lines {
					if Width(l) != Width(lines[0]) || set == ASCII && ASCIIOnly(l) != l {
						t.Errorf("%q at scale %d: %q", c, scale, lines)
					}
				}
			}
			shape := strings.Join(th.Big(string(c), 1), "\n")
			if other, is := seen[shape]; is {
				t.Errorf("%q and %q look alike:\n%s", c, other, shape)
			}
			seen[shape] = c
		}
	}
	th := New(lipgloss.NewRenderer(io.Discard), Unicode)
	if one, two := Width(th.Big("42", 1)[0]), Width(th.Big("42", 2)[0]); one != 11 || two != 22 {
		t.Errorf("42 has %d and %d columns", one, two)
	}
}
