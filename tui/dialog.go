package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
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

// answer gives a key to the open dialog.
func (m *Model) answer(key string) tea.Cmd {
	d := m.dialog
	if escapes(key) || key == "backspace" || key == "n" && !d.has(key) {
		key = d.choices[len(d.choices)-1].key
	}
	for _, c := range d.choices {
		if c.key != key {
			continue
		}
		m.dialog = nil
		m.changed()
		if c.action != nil {
			return c.action()
		}
		return nil
	}
	return nil
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

// wrapStyled wraps text that may hold escape sequences.
func wrapStyled(s string, w int) []string {
	if width(s) <= w {
		return []string{s}
	}
	return strings.Split(ansi.Wordwrap(s, max(1, w), " "), "\n")
}

// overlay lays box over the middle of lines, which are w columns wide.
func overlay(lines, box []string, w int) []string {
	if len(box) == 0 || len(lines) == 0 {
		return lines
	}
	if width(box[0])+2 <= w { // a column of air on both sides
		for i := range box {
			box[i] = " " + box[i] + " "
		}
	}
	bw := width(box[0])
	x, y := max(0, (w-bw)/2), max(0, (len(lines)-len(box))/2)
	if len(lines) < lowScreen {
		y = max(0, len(lines)-1-len(box)) // the line with the keys stays
	}
	out := append([]string(nil), lines...)
	for i, b := range box {
		if y+i >= len(out) {
			break
		}
		under := out[y+i]
		out[y+i] = ansi.Cut(under, 0, x) + b + ansi.Cut(under, x+bw, w)
	}
	return out
}
