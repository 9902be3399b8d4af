package pane

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/theme"
)

// Dialog is a question over the screen; while it is open, only the dialog gets keys.
type Dialog struct {
	Title   string
	Lines   []string
	Choices []Choice
	Below   []string // what is worth knowing and no answer, below the answers
}

// Choice is one answer. A dialog's last choice is what esc means.
type Choice struct {
	Key, Label string
	Now        func() string  // what stands in place of Label where it changes as the run goes on
	Action     func() tea.Cmd // nil: just close
}

// Text says what the choice means at present.
func (c Choice) Text() string {
	if c.Now != nil {
		return c.Now()
	}
	return c.Label
}

// Has says whether a key is an answer.
func (d *Dialog) Has(key string) bool {
	for _, c := range d.Choices {
		if c.Key == key {
			return true
		}
	}
	return false
}

// View draws the dialog as a box of at most w columns and h rows.
func (d *Dialog) View(t *theme.Theme, w, h int) []string {
	inner := 0
	for _, l := range slices.Concat(d.Lines, d.Below) {
		inner = max(inner, theme.Width(l))
	}
	var keys []string
	for _, c := range d.Choices {
		keys = append(keys, t.Key.On(t.Fit(c.Key, 6))+c.Text())
		inner = max(inner, theme.Width(c.Text())+10)
	}
	inner = min(max(inner, theme.Width(d.Title)+8), w-6, 88) // longer lines are hard to read
	wrapped := func(lines []string) (out []string) {
		for _, l := range lines {
			out = append(out, theme.WrapStyled(l, inner)...)
		}
		return out
	}
	text, below := wrapped(d.Lines), wrapped(d.Below)
	body := append([]string{""}, text...)
	if len(text) > 0 {
		body = append(body, "")
	}
	body = append(append(body, keys...), "")
	if len(below) > 0 {
		body = append(append(body, below...), "")
	}
	if h < theme.LowScreen { // no padding, and the answers are shown whatever stands above them
		body = append(text[:max(0, min(len(text), h-2-len(keys)))], keys...)
		body = append(body, below[:max(0, min(len(below), h-2-len(body)))]...)
	}
	return t.Box(d.Title, "", theme.Pad(body), min(w, inner+6), min(h, len(body)+2), true)
}
