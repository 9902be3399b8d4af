package pane

import (
	"errors"
	"io"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/tui/theme"
)

// A pasted text is taken as a whole, or not at all and with the reason; typing goes on after that.
func TestNoTextIsCut(t *testing.T) {
	paste := func(n int) tea.KeyMsg {
		return tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("é", n))}
	}
	for _, c := range []struct{ before, pasted int }{{0, 429}, {0, entryLimit}, {0, entryLimit + 1}, {10, entryLimit}, {entryLimit, 1}, {entryLimit - 1, 1}} {
		e := NewEntry("note: ", "enter keep", nil)
		e.set(strings.Repeat("x", c.before))
		e.Type(paste(c.pasted))
		fits := c.before+c.pasted <= entryLimit
		want := strings.Repeat("x", c.before)
		if fits {
			want += strings.Repeat("é", c.pasted)
		}
		if e.Text() != want || (e.Wrong() == "") != fits {
			t.Errorf("%d characters after %d: %d are in the line, and it says %q", c.pasted, c.before, len([]rune(e.Text())), e.Wrong())
		}
		e.Changes()
		if e.Type(tea.KeyMsg{Type: tea.KeyBackspace}); c.before > 0 && !fits && len(e.Text()) != c.before-1 {
			t.Errorf("after %d refused characters it cannot be corrected", c.pasted)
		}
	}
}

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

// A proposed text that was refused is selected again, as the line says: typing replaces it. A text
// that was typed from the start stays to be corrected.
func TestTypingReplacesARefusedProposal(t *testing.T) {
	for _, c := range []struct {
		propose     bool
		typed, want string
	}{{true, "500", "1"}, {false, "500", "5001"}} {
		e := NewEntry("env steps a child: ", "typing replaces it", nil)
		e.Check = func(string) error { return errors.New("too few") }
		if c.propose {
			e.Propose("4000")
		}
		e.set(c.typed)
		if !e.Refuses(e.Text()) {
			t.Fatal("it is not refused")
		}
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("1")}
		e.ReplaceProposed(key)
		e.Input, _ = e.Input.Update(key)
		if e.Text() != c.want {
			t.Errorf("proposed %v: %s, refused, 1: %q, want %q", c.propose, c.typed, e.Text(), c.want)
		}
	}
}
