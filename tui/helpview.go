package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// helpPage is the help over the whole screen: how far it is scrolled, and what is
// looked for in it.
type helpPage struct {
	host
	theme    *theme
	contents func() helpContents
	w, h     int // of the screen
	shown    bool
	top      int
	find     string // in small letters; "": nothing
	at       int    // the line that was found last
}

// newHelp is the help about what contents says.
func newHelp(s host, t *theme, contents func() helpContents) *helpPage {
	return &helpPage{host: s, theme: t, contents: contents, at: -1}
}

// resize fits it to a screen of w by h.
func (m *helpPage) resize(w, h int) { m.w, m.h = w, h }

// isOpen says whether the help is shown.
func (m *helpPage) isOpen() bool { return m.shown }

func (m *helpPage) close() { m.shown = false }

// keys are those of the help: dispatch, its foot and its own explanation.
func (m *helpPage) keys() []binding {
	scroll := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.top += by; return nil }
	}
	page := max(1, m.h-3)
	return []binding{
		{name: "help-find", keys: []string{"/"}, does: "find", help: "look for a text in this help", action: m.openFind},
		{name: "help-next", keys: []string{"n"}, hint: "n N", does: "next, previous", help: "the next line with the text", action: func() tea.Cmd { return m.findNext(1) }},
		{name: "help-previous", keys: []string{"N"}, help: "the line with the text before", action: func() tea.Cmd { return m.findNext(-1) }},
		{name: "help-down", keys: []string{"down", "j"}, label: "down j", hint: "up down", does: "scroll", help: "a line down", action: scroll(1)},
		{name: "help-up", keys: []string{"up", "k"}, label: "up k", help: "a line up", action: scroll(-1)},
		{name: "help-page-down", keys: []string{"pgdown", " ", "f"}, label: "pgdown space f", help: "a page down", action: scroll(page)},
		{name: "help-page-up", keys: []string{"pgup", "b"}, label: "pgup b", help: "a page up", action: scroll(-page)},
		{name: "help-top", keys: []string{"home", "g"}, label: "home g", help: "to the beginning", action: func() tea.Cmd { m.top = 0; return nil }},
		{name: "help-end", keys: []string{"end", "G"}, label: "end G", help: "to the end", action: func() tea.Cmd { m.top = len(m.text()); return nil }},
		{name: "help-close", keys: []string{"esc", "q", "?", "f1", "enter", "backspace"}, label: "esc q ?", hint: "esc", does: "close", help: "end the search; again: close the help", action: m.back},
	}
}

// show opens the help at its beginning.
func (m *helpPage) show() tea.Cmd {
	m.shown, m.top, m.find, m.at = true, 0, "", -1
	return nil
}

// back peels one layer: the search, then the help.
func (m *helpPage) back() tea.Cmd {
	if m.find != "" {
		m.find, m.at = "", -1
		return nil
	}
	m.shown = false
	return nil
}

// key is a key while the help is open.
func (m *helpPage) key(key string) tea.Cmd {
	if escapes(key) {
		key = "esc"
	}
	m.changed()
	for _, b := range m.keys() {
		if slices.Contains(b.keys, key) {
			return b.action()
		}
	}
	return nil
}

// openFind asks what to look for.
func (m *helpPage) openFind() tea.Cmd {
	e := newEntry("/", "enter find  esc cancel", func(text string) tea.Cmd {
		m.find, m.at = strings.ToLower(text), m.top-1
		return m.findNext(1)
	})
	e.propose(m.find)
	m.open(e)
	return nil
}

// findNext goes to the next line with the text in a direction, round the ends.
func (m *helpPage) findNext(by int) tea.Cmd {
	found := m.foundLines(m.text())
	if len(found) == 0 {
		return nil
	}
	next := 0
	if by > 0 {
		for next < len(found) && found[next] <= m.at {
			next++
		}
		next %= len(found)
	} else {
		next = len(found) - 1
		for next >= 0 && found[next] >= m.at {
			next--
		}
		next = (next + len(found)) % len(found)
	}
	m.at = found[next]
	m.top = m.at - (m.h-2)/3 // what stands before it explains it
	m.changed()
	return nil
}

// foundLines are the numbers of the lines with the text that is looked for.
func (m *helpPage) foundLines(lines []string) []int {
	if m.find == "" {
		return nil
	}
	var out []int
	for i, l := range lines {
		if strings.Contains(strings.ToLower(ansi.Strip(l)), m.find) {
			out = append(out, i)
		}
	}
	return out
}

// text is the help as wide as the screen has it.
func (m *helpPage) text() []string { return m.lines(min(m.w-4, 110)) }

// view is the help over the whole screen, scrolled.
func (m *helpPage) view() []string {
	t, w, h := m.theme, m.w, m.h
	lines := m.text()
	found := m.foundLines(lines)
	room := max(1, h-2)
	m.top = max(0, min(m.top, len(lines)-room))
	end := min(len(lines), m.top+room)
	body := make([]string, 0, room)
	for i := m.top; i < end; i++ {
		switch {
		case len(found) > 0 && i == m.at:
			body = append(body, t.accent.on(t.glyphs.cursor)+t.bold.on(ansi.Strip(lines[i])))
		case slices.Contains(found, i):
			body = append(body, t.accent.on(t.glyphs.vertical)+lines[i])
		default:
			body = append(body, " "+lines[i])
		}
	}
	out := t.box("HELP", m.note(found, end, len(lines)), body, w, h, true)
	if m.typed() != nil && len(out) > 0 {
		out[len(out)-1] = t.fit(m.typed().line(t, w), w)
	}
	return out
}

// note is what was found, and the keys.
func (m *helpPage) note(found []int, end, all int) string {
	t := m.theme
	note := ""
	switch {
	case m.find != "" && len(found) == 0:
		note = t.bad.on(fmt.Sprintf("nothing has %q in it", m.find)) + "  "
	case m.find != "":
		at := 0
		for i, line := range found {
			if line == m.at {
				at = i + 1
			}
		}
		note = t.warn.on(fmt.Sprintf("%q %d of %d", m.find, at, len(found))) + "  "
	}
	var keys []string
	for _, b := range m.keys() {
		scrolls := b.name != "help-down" || m.top > 0 || end < all
		if b.does != "" && scrolls && (b.name != "help-next" || len(found) > 0) {
			keys = append(keys, t.key.on(t.keyLabel(b.short()))+" "+t.dim.on(b.does))
		}
	}
	return firstFitting([]string{note + strings.Join(keys, "  "), strings.TrimSpace(note), strings.Join(keys[len(keys)-1:], "")}, m.w-17)
}
