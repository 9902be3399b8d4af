package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// dialog is a question over the screen; while it is open, keys go to it alone.
type dialog struct {
	title   string
	lines   []string
	choices []choice
}

// choice is one answer. A dialog's last choice is what esc means.
type choice struct {
	key, label string
	action     func() tea.Cmd // nil: just close
}

// has says whether a key is an answer.
func (d *dialog) has(key string) bool {
	for _, c := range d.choices {
		if c.key == key {
			return true
		}
	}
	return false
}

// lowScreen is the height below which a dialog takes as little of the screen as it
// can, and stands at its foot.
const lowScreen = 30

// view draws the dialog as a box of at most w columns and h rows.
func (d *dialog) view(t *theme, w, h int) []string {
	inner := 0
	for _, l := range d.lines {
		inner = max(inner, width(l))
	}
	var keys []string
	for _, c := range d.choices {
		keys = append(keys, t.key.on(t.fit(c.key, 6))+c.label)
		inner = max(inner, width(c.label)+10)
	}
	inner = min(max(inner, width(d.title)+8), w-6, 88) // longer lines do not read well
	var text []string
	for _, l := range d.lines {
		text = append(text, wrapStyled(l, inner)...)
	}
	body := append([]string{""}, text...)
	if len(text) > 0 {
		body = append(body, "")
	}
	body = append(append(body, keys...), "")
	if h < lowScreen { // no air, and the answers stand whatever is said above them
		body = append(text[:max(0, min(len(text), h-2-len(keys)))], keys...)
	}
	return t.box(d.title, "", pad(body), min(w, inner+6), min(h, len(body)+2), true)
}
