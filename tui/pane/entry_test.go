package pane

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/tui/theme"
)

// The cursor of a text that is longer than the line is in sight, wherever it is.
func TestCursorOfALongTextIsInSight(t *testing.T) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	th := theme.New(r, theme.Unicode)
	for _, text := range []string{strings.Repeat("0123456789", 10), strings.Repeat("世界", 40)} {
		e := NewEntry("note: ", "enter keep", nil)
		e.set(text)
		letters := []rune(text + " ")
		for at := range letters {
			e.Input.SetCursor(at)
			for _, w := range []int{40, 41, 80} {
				line := e.Line(th, w)
				if under := th.Cursor.On(string(letters[at])); theme.Width(line) != w || !strings.Contains(line, under) {
					t.Fatalf("%d columns, cursor at %d: %d columns, %q", w, at, theme.Width(line), line)
				}
			}
		}
	}
}
