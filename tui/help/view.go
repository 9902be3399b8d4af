package help

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Page is the help over the whole screen, with its scroll position and search text.
type Page struct {
	pane.Screen
	theme    *theme.Theme
	contents func() Contents
	w, h     int // of the screen
	shown    bool
	top      int
	find     string // in lower case; "": no search
	At       int    // the line found last
}

// New is the help page for the given contents.
func New(s pane.Screen, t *theme.Theme, contents func() Contents) *Page {
	return &Page{Screen: s, theme: t, contents: contents, At: -1}
}

// Resize adapts the page to a screen of w by h.
func (p *Page) Resize(w, h int) { p.w, p.h = w, h }

// IsOpen says whether the help is shown.
func (p *Page) IsOpen() bool { return p.shown }

// Close closes the help.
func (p *Page) Close() { p.shown = false }

// Keys are the keys of the help, for dispatch, footer and the help itself.
func (p *Page) Keys() []pane.Binding {
	scroll := func(by int) func() tea.Cmd {
		return func() tea.Cmd { p.top += by; return nil }
	}
	page := max(1, p.h-3)
	return []pane.Binding{
		{Name: "help-find", Keys: []string{"/"}, Does: "find", Help: "look for a text in this help", Action: p.openFind},
		{Name: "help-next", Keys: []string{"n"}, Hint: "n N", Does: "next, previous", Help: "the next line with the text", Action: func() tea.Cmd { return p.findNext(1) }},
		{Name: "help-previous", Keys: []string{"N"}, Help: "the previous line with the text", Action: func() tea.Cmd { return p.findNext(-1) }},
		{Name: "help-down", Keys: []string{"down", "j"}, Label: "down j", Hint: "up down", Does: "scroll", Help: "a line down", Action: scroll(1)},
		{Name: "help-up", Keys: []string{"up", "k"}, Label: "up k", Help: "a line up", Action: scroll(-1)},
		{Name: "help-page-down", Keys: []string{"pgdown", " ", "f"}, Label: "pgdown space f", Help: "a page down", Action: scroll(page)},
		{Name: "help-page-up", Keys: []string{"pgup", "b"}, Label: "pgup b", Help: "a page up", Action: scroll(-page)},
		{Name: "help-top", Keys: []string{"home", "g"}, Label: "home g", Help: "to the beginning", Action: func() tea.Cmd { p.top = 0; return nil }},
		{Name: "help-end", Keys: []string{"end", "G"}, Label: "end G", Help: "to the end", Action: func() tea.Cmd { p.top = len(p.Text()); return nil }},
		{Name: "help-close", Keys: []string{"esc", "q", "?", "f1", "enter", "backspace"}, Label: "esc q ?", Hint: "esc", Does: "close", Help: "end the search; pressed again, close the help", Action: p.back},
	}
}

// Show opens the help at its beginning.
func (p *Page) Show() tea.Cmd {
	p.shown, p.top, p.find, p.At = true, 0, "", -1
	return nil
}

// back undoes one layer: the search, then the help.
func (p *Page) back() tea.Cmd {
	if p.find != "" {
		p.find, p.At = "", -1
		return nil
	}
	p.shown = false
	return nil
}

// Key handles a key while the help is open.
func (p *Page) Key(key string) tea.Cmd {
	if pane.Escapes(key) {
		key = "esc"
	}
	p.Changed()
	for _, b := range p.Keys() {
		if slices.Contains(b.Keys, key) {
			return b.Action()
		}
	}
	return nil
}

// openFind asks for the text to find.
func (p *Page) openFind() tea.Cmd {
	e := pane.NewEntry("/", "enter find  esc cancel", func(text string) tea.Cmd {
		p.find, p.At = strings.ToLower(text), p.top-1
		if at := p.defined(p.Text()); at >= 0 {
			p.At = at - 1
		}
		return p.findNext(1)
	})
	e.Propose(p.find)
	p.Open(e)
	return nil
}

// defined is the line of the definition whose name contains the search text; -1: there is none.
func (p *Page) defined(lines []string) int {
	from := slices.IndexFunc(lines, func(l string) bool { return ansi.Strip(l) == numbersTitle })
	for _, i := range p.FoundLines(lines) {
		if i > from && from >= 0 && !strings.HasPrefix(ansi.Strip(lines[i]), " ") {
			return i
		}
	}
	return -1
}

// findNext goes to the next line that contains the text, in a direction, and wraps around at the
// ends.
func (p *Page) findNext(by int) tea.Cmd {
	found := p.FoundLines(p.Text())
	if len(found) == 0 {
		return nil
	}
	next := 0
	if by > 0 {
		for next < len(found) && found[next] <= p.At {
			next++
		}
		next %= len(found)
	} else {
		next = len(found) - 1
		for next >= 0 && found[next] >= p.At {
			next--
		}
		next = (next + len(found)) % len(found)
	}
	p.At = found[next]
	p.top = p.At - (p.h-2)/3 // the lines before it explain it
	p.Changed()
	return nil
}

// FoundLines are the numbers of the lines that contain the search text.
func (p *Page) FoundLines(lines []string) []int {
	if p.find == "" {
		return nil
	}
	var out []int
	for i, l := range lines {
		if strings.Contains(strings.ToLower(ansi.Strip(l)), p.find) {
			out = append(out, i)
		}
	}
	return out
}

// Text is the help at the width of the screen.
func (p *Page) Text() []string { return p.Lines(min(p.w-4, 110)) }

// View draws the help over the whole screen, scrolled.
func (p *Page) View() []string {
	t, w, h := p.theme, p.w, p.h
	lines := p.Text()
	found := p.FoundLines(lines)
	room := max(1, h-2)
	p.top = max(0, min(p.top, len(lines)-room))
	end := min(len(lines), p.top+room)
	body := make([]string, 0, room)
	for i := p.top; i < end; i++ {
		switch {
		case len(found) > 0 && i == p.At:
			body = append(body, t.Accent.On(t.Glyphs.Cursor)+t.Bold.On(ansi.Strip(lines[i])))
		case slices.Contains(found, i):
			body = append(body, t.Accent.On(t.Glyphs.Vertical)+lines[i])
		default:
			body = append(body, " "+lines[i])
		}
	}
	out := t.Box("HELP", p.note(found, end, len(lines)), body, w, h, true)
	if p.Typed() != nil && len(out) > 0 {
		out[len(out)-1] = t.Fit(p.Typed().Line(t, w), w)
	}
	return out
}

// note is the result of the search, and the keys.
func (p *Page) note(found []int, end, all int) string {
	t := p.theme
	note := ""
	switch {
	case p.find != "" && len(found) == 0:
		note = t.Bad.On(fmt.Sprintf("nothing has %q in it", p.find)) + "  "
	case p.find != "":
		at := 0
		for i, line := range found {
			if line == p.At {
				at = i + 1
			}
		}
		note = t.Warn.On(fmt.Sprintf("%q %d of %d", p.find, at, len(found))) + "  "
	}
	var keys []string
	for _, b := range p.Keys() {
		scrolls := b.Name != "help-down" || p.top > 0 || end < all
		if b.Does != "" && scrolls && (b.Name != "help-next" || len(found) > 0) {
			keys = append(keys, t.Key.On(t.KeyLabel(b.Short()))+" "+t.Dim.On(b.Does))
		}
	}
	return theme.FirstFitting([]string{note + strings.Join(keys, "  "), strings.TrimSpace(note), strings.Join(keys[len(keys)-1:], "")}, p.w-17)
}
