package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// helpPage is the help over the whole screen: how far it is scrolled, and what is
// looked for in it.
type helpPage struct {
	top  int
	find string // in small letters; "": nothing
	at   int    // the line that was found last
}

// helpKeys are the keys of the help: dispatch, its foot and its own explanation.
func helpKeys() []binding {
	scroll := func(by func(m *Model) int) func(m *Model) tea.Cmd {
		return func(m *Model) tea.Cmd { m.page.top += by(m); return nil }
	}
	rows := func(n int) func(*Model) int { return func(*Model) int { return n } }
	page := func(m *Model) int { return max(1, m.h-3) }
	return []binding{
		{name: "help-find", keys: []string{"/"}, does: "find", help: "look for a text in this help", action: (*Model).openFind},
		{name: "help-next", keys: []string{"n"}, hint: "n N", does: "next, previous", help: "the next line with the text", action: func(m *Model) tea.Cmd { return m.findNext(1) }},
		{name: "help-previous", keys: []string{"N"}, help: "the line with the text before", action: func(m *Model) tea.Cmd { return m.findNext(-1) }},
		{name: "help-down", keys: []string{"down", "j"}, label: "down j", hint: "up down", does: "scroll", help: "a line down", action: scroll(rows(1))},
		{name: "help-up", keys: []string{"up", "k"}, label: "up k", help: "a line up", action: scroll(rows(-1))},
		{name: "help-page-down", keys: []string{"pgdown", " ", "f"}, label: "pgdown space f", help: "a page down", action: scroll(page)},
		{name: "help-page-up", keys: []string{"pgup", "b"}, label: "pgup b", help: "a page up", action: scroll(func(m *Model) int { return -page(m) })},
		{name: "help-top", keys: []string{"home", "g"}, label: "home g", help: "to the beginning", action: func(m *Model) tea.Cmd { m.page.top = 0; return nil }},
		{name: "help-end", keys: []string{"end", "G"}, label: "end G", help: "to the end", action: func(m *Model) tea.Cmd { m.page.top = len(m.helpText()); return nil }},
		{name: "help-close", keys: []string{"esc", "q", "?", "f1", "enter", "backspace"}, label: "esc q ?", hint: "esc", does: "close", help: "end the search; again: close the help", action: (*Model).closeHelp},
	}
}

func (m *Model) openHelp() tea.Cmd {
	m.help, m.page = true, helpPage{at: -1}
	return nil
}

// closeHelp peels one layer: the search, then the help.
func (m *Model) closeHelp() tea.Cmd {
	if m.page.find != "" {
		m.page.find, m.page.at = "", -1
		return nil
	}
	m.help = false
	return nil
}

// helpKey is a key while the help is open.
func (m *Model) helpKey(key string) tea.Cmd {
	if escapes(key) {
		key = "esc"
	}
	m.changed()
	for _, b := range helpKeys() {
		if contains(b.keys, key) {
			return b.action(m)
		}
	}
	return nil
}

// openFind asks what to look for.
func (m *Model) openFind() tea.Cmd {
	e := newEntry("/", "enter find  esc cancel", func(m *Model, text string) tea.Cmd {
		m.page.find, m.page.at = strings.ToLower(text), m.page.top-1
		return m.findNext(1)
	})
	e.propose(m.page.find)
	m.open(e)
	return nil
}

// findNext goes to the next line with the text in a direction, round the ends.
func (m *Model) findNext(by int) tea.Cmd {
	found := m.foundLines(m.helpText())
	if len(found) == 0 {
		return nil
	}
	next := 0
	if by > 0 {
		for next < len(found) && found[next] <= m.page.at {
			next++
		}
		next %= len(found)
	} else {
		next = len(found) - 1
		for next >= 0 && found[next] >= m.page.at {
			next--
		}
		next = (next + len(found)) % len(found)
	}
	m.page.at = found[next]
	m.page.top = m.page.at - (m.h-2)/3 // what stands before it explains it
	m.changed()
	return nil
}

// foundLines are the numbers of the lines with the text that is looked for.
func (m *Model) foundLines(lines []string) []int {
	if m.page.find == "" {
		return nil
	}
	var out []int
	for i, l := range lines {
		if strings.Contains(strings.ToLower(ansi.Strip(l)), m.page.find) {
			out = append(out, i)
		}
	}
	return out
}

// helpText is the help as wide as the screen has it.
func (m *Model) helpText() []string { return m.helpLines(min(m.w-4, 110)) }

// helpView is the help over the whole screen, scrolled.
func (m *Model) helpView() []string {
	t, w, h := m.theme, m.w, m.h
	lines := m.helpText()
	found := m.foundLines(lines)
	room := max(1, h-2)
	m.page.top = max(0, min(m.page.top, len(lines)-room))
	end := min(len(lines), m.page.top+room)
	body := make([]string, 0, room)
	for i := m.page.top; i < end; i++ {
		switch {
		case len(found) > 0 && i == m.page.at:
			body = append(body, t.accent.on(t.glyphs.cursor)+t.bold.on(ansi.Strip(lines[i])))
		case contains(found, i):
			body = append(body, t.accent.on(t.glyphs.vertical)+lines[i])
		default:
			body = append(body, " "+lines[i])
		}
	}
	out := t.box("HELP", m.helpNote(found, end, len(lines)), body, w, h, true)
	if m.entry != nil && len(out) > 0 {
		out[len(out)-1] = t.fit(m.entry.line(t, w), w)
	}
	return out
}

// helpNote is what was found, and the keys.
func (m *Model) helpNote(found []int, end, all int) string {
	t := m.theme
	note := ""
	switch {
	case m.page.find != "" && len(found) == 0:
		note = t.bad.on(fmt.Sprintf("nothing has %q in it", m.page.find)) + "  "
	case m.page.find != "":
		at := 0
		for i, line := range found {
			if line == m.page.at {
				at = i + 1
			}
		}
		note = t.warn.on(fmt.Sprintf("%q %d of %d", m.page.find, at, len(found))) + "  "
	}
	var keys []string
	for _, b := range helpKeys() {
		scrolls := b.name != "help-down" || m.page.top > 0 || end < all
		if b.does != "" && scrolls && (b.name != "help-next" || len(found) > 0) {
			keys = append(keys, t.key.on(t.keyLabel(b.short()))+" "+t.dim.on(b.does))
		}
	}
	return firstFitting([]string{note + strings.Join(keys, "  "), strings.TrimSpace(note), strings.Join(keys[len(keys)-1:], "")}, m.w-17)
}
