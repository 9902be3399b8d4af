package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// eventsPane is the list of events.
type eventsPane struct {
	*runView
	memory hintMemory // which hints were used
	filter string     // only events with this text are shown; "": all
	upBy   int        // events above the first one shown
	room   int        // events that fit, as drawn
	seen   int        // events at the last look
}

func newEvents(r *runView, m hintMemory) *eventsPane { return &eventsPane{runView: r, memory: m} }

// ID names the pane.
func (m *eventsPane) ID() paneID { return paneEvents }

// Tab is its name on the tab bar.
func (m *eventsPane) Tab() string { return string(paneEvents) }

// Title is what its border says.
func (m *eventsPane) Title(w int) (title, note string) { return "EVENTS", m.eventsNote() }

// Keys work while it is in focus.
func (m *eventsPane) Keys() []binding {
	return []binding{
		{name: "newer", keys: []string{"up", "k"}, label: "up k", help: "newer events", action: m.up},
		{name: "older", keys: []string{"down", "j"}, label: "down j", help: "older events", action: m.down},
		{name: "page-newer", keys: []string{"pgup"}, help: "a page of newer events", action: m.pageUp},
		{name: "page-older", keys: []string{"pgdown"}, help: "a page of older events", action: m.pageDown},
		{name: "filter", keys: []string{"/"}, does: "filter", help: "show only the events that contain a text or are of a kind (knob, eval, refit, note, …)", action: m.openFilter},
	}
}

// Verbs are its commands.
func (m *eventsPane) Verbs() []verb {
	return []verb{{"filter", "show only the events with a text in them", nil, func(text string) error { m.setFilter(text); return nil }}}
}

// Poll keeps the events in sight where they are while new ones come.
func (m *eventsPane) Poll(bool) {
	n := len(m.history.lines)
	if m.upBy > 0 {
		m.upBy += n - m.seen
	}
	m.seen = n
}

// Scroll is the wheel of the mouse.
func (m *eventsPane) Scroll(by int) tea.Cmd { return m.scrollEvents(by) }

// DependsOn are the topics that it shows.
func (m *eventsPane) DependsOn() []topic { return []topic{topicLines, topicChanges} }

// Body shows the newest events that fit, or those around the scroll position.
func (m *eventsPane) Body(w, h int) []string {
	lines := m.filtered()
	if len(lines) == 0 && m.filter != "" {
		return []string{m.theme.dim.on("no event has " + m.filter + " in it; esc shows all")}
	}
	hints := m.hintLines(w)
	if h < 2*len(hints) { // a low pane has events first
		hints = hints[:min(len(hints), max(0, h-min(3, len(lines))))]
	}
	h -= len(hints)
	m.room = m.eventsThatFit(lines, w, h)
	m.upBy = max(0, min(m.upBy, len(lines)-m.room))
	end := len(lines) - m.upBy
	out := make([]string, 0, h)
	for i := end - 1; i >= 0 && len(out) < h; i-- {
		out = append(out, m.eventText(lines[i], w, h)...)
	}
	out = out[:min(len(out), max(0, h))]
	for len(out) < h && len(hints) > 0 {
		out = append(out, "")
	}
	return append(out, hints...)
}

// roomyEvents is the height from which events show whole, on several lines if need
// be; below it each has one line, which ends behind a clause or a word.
const roomyEvents = 12

// eventsThatFit is how many of the oldest events h rows hold: how far one can scroll.
func (m *eventsPane) eventsThatFit(lines []eventLine, w, h int) int {
	if h < roomyEvents {
		return h
	}
	n, rows := 0, 0
	for _, l := range lines {
		if rows += len(m.eventText(l, w, h)); rows > h {
			break
		}
		n++
	}
	return max(1, n)
}

// eventText is an event in a pane of w by h: time, step, kind, text.
func (m *eventsPane) eventText(l eventLine, w, h int) []string {
	t := m.theme
	head := t.faint.on(l.wall.Format("15:04:05"))
	if w >= 60 {
		head += t.dim.on(fmt.Sprintf("%9s", count(l.step))) + " "
	}
	head += " " + t.kindInk(l).on(t.fit(l.kind, 7)) + " "
	room := w - width(head)
	switch {
	case h < roomyEvents && l.change != nil:
		return []string{t.fit(head+m.changeText(l.change, room), w)}
	case h < roomyEvents:
		text := firstFitting(append([]string{l.text}, l.briefs...), room)
		if text == "" {
			text = t.clip(l.text, room)
		}
		return []string{t.fit(head+text, w)}
	}
	text := l.text
	if l.change != nil {
		text = m.changeText(l.change, 3*room)
	}
	out := wrapStyled(text, room)
	for i := range out {
		if i > 0 {
			head = strings.Repeat(" ", w-room)
		}
		out[i] = t.fit(head+out[i], w)
	}
	return out
}

func (t *theme) kindInk(l eventLine) ink {
	switch {
	case l.worry:
		return t.bad
	case l.kind == "knob":
		return t.markerNumber
	case l.kind == "eval":
		return t.accent
	case l.kind == "refit":
		return t.warn
	default:
		return t.dim
	}
}

// filtered are the lines that the filter lets through.
func (m *eventsPane) filtered() []eventLine {
	if m.filter == "" {
		return m.history.lines
	}
	var out []eventLine
	for _, l := range m.history.lines {
		text := l.kind + " " + l.text
		if l.change != nil {
			text = l.kind + " " + m.knobTitle(l.change.knob) + " " + m.changeWhat(l.change, l.change.knob) + " " + strings.Join(m.stamps(l.change), " ")
		}
		if strings.Contains(strings.ToLower(text), strings.ToLower(m.filter)) {
			out = append(out, l)
		}
	}
	return out
}

// openFilter asks for a text that the events shown contain.
func (m *eventsPane) openFilter() tea.Cmd {
	e := newEntry("filter: ", "a kind (knob, eval, refit, note, ...) or any text; empty shows all", func(text string) tea.Cmd {
		m.setFilter(text)
		return nil
	})
	e.propose(m.filter)
	m.open(e)
	return nil
}

func (m *eventsPane) setFilter(text string) {
	m.filter, m.upBy = text, 0
	m.touchPane(paneEvents)
	m.changed()
}

func (m *eventsPane) eventsNote() string {
	if m.filter != "" {
		return m.theme.warn.on(fmt.Sprintf("%d of %d with %q", len(m.filtered()), len(m.history.lines), m.filter))
	}
	if m.upBy > 0 {
		return m.theme.warn.on(fmt.Sprintf("%d newer %s g follow", m.upBy, m.theme.glyphs.separator))
	}
	return m.theme.dim.on("newest first")
}

func (m *eventsPane) scrollEvents(by int) tea.Cmd {
	m.upBy = max(0, min(m.upBy+by, len(m.filtered())-m.room))
	m.touchPane(paneEvents)
	return nil
}

func (m *eventsPane) up() tea.Cmd       { return m.scrollEvents(-1) }
func (m *eventsPane) down() tea.Cmd     { return m.scrollEvents(1) }
func (m *eventsPane) pageUp() tea.Cmd   { return m.scrollEvents(-max(1, m.room-1)) }
func (m *eventsPane) pageDown() tea.Cmd { return m.scrollEvents(max(1, m.room-1)) }

// follow goes back to the newest events; it says whether it had to.
func (m *eventsPane) follow() bool {
	if m.upBy == 0 {
		return false
	}
	m.upBy = 0
	m.touchPane(paneEvents)
	return true
}

// unfilter shows all events again; it says whether a filter was set.
func (m *eventsPane) unfilter() bool {
	if m.filter == "" {
		return false
	}
	m.setFilter("")
	return true
}
