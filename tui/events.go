package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
)

// eventsBody shows the newest events that fit, or those around the scroll position.
func (m *Model) eventsBody(w, h int) []string {
	lines := m.filtered()
	if len(lines) == 0 && m.filter != "" {
		return []string{m.theme.dim.on("no event has " + m.filter + " in it; esc shows all")}
	}
	hints := m.hintLines(w)
	if h < 2*len(hints) { // a low pane has events first
		hints = hints[:min(len(hints), max(0, h-min(3, len(lines))))]
	}
	h -= len(hints)
	m.eventsRoom = m.eventsThatFit(lines, w, h)
	m.eventsUpBy = max(0, min(m.eventsUpBy, len(lines)-m.eventsRoom))
	end := len(lines) - m.eventsUpBy
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
func (m *Model) eventsThatFit(lines []eventLine, w, h int) int {
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
func (m *Model) eventText(l eventLine, w, h int) []string {
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

// changeText is a change with as many of its stamps as fit into w columns; of the
// last one there is at least a sign.
func (m *Model) changeText(c *change, w int) string {
	stamps := m.stamps(c)
	separator := m.theme.faint.on(" " + m.theme.glyphs.separator + " ")
	for _, name := range []string{m.knobTitle(c.knob), m.knobSymbol(c.knob)} {
		for i := range stamps {
			text := m.changeWhat(c, name) + "  " + strings.Join(stamps[i:], separator)
			if width(text) <= w {
				return text
			}
		}
	}
	if c.state == refused { // the reason is what matters; its beginning says most of it
		what := m.changeWhat(c, m.knobSymbol(c.knob)) + "  " + m.theme.bad.on(m.theme.glyphs.cross) + " "
		return what + m.theme.bad.on(m.theme.clip(c.why, max(8, w-width(what))))
	}
	brief := *c
	brief.now, brief.undoes, brief.redoes = false, 0, 0
	what := m.changeWhat(&brief, m.knobSymbol(c.knob))
	return firstFitting([]string{what + "  " + m.stampSign(c), what + " " + m.stampSign(c), what}, max(w, width(what)))
}

// stampSign is the stage that a change has reached, in few columns.
func (m *Model) stampSign(c *change) string {
	t := m.theme
	switch {
	case c.state == asked && c.at > 0:
		return t.dim.on("@" + count(c.at))
	case c.state == asked:
		return t.warn.on("pending")
	case c.state == inForce:
		return t.good.on(t.glyphs.check + " at " + count(c.forceStep))
	case c.now && m.remaking():
		return t.warn.on(m.phase().String())
	default:
		return t.dim.on("waits")
	}
}

// changeWhat is number, name and values of a change.
func (m *Model) changeWhat(c *change, name string) string {
	t := m.theme
	var b strings.Builder
	if c.number > 0 {
		b.WriteString(t.markerNumber.on(fmt.Sprintf("#%d ", c.number)))
	}
	fmt.Fprintf(&b, "%s %s %s %s", name, readable(c.from), t.glyphs.arrow, readable(c.to))
	if c.now {
		b.WriteString(" now")
	}
	if c.undoes > 0 {
		fmt.Fprintf(&b, " (undoes #%d)", c.undoes)
	}
	if c.redoes > 0 {
		fmt.Fprintf(&b, " (redoes #%d)", c.redoes)
	}
	return b.String()
}

// stamps are the stages a change has reached, in their order.
func (m *Model) stamps(c *change) []string {
	t := m.theme
	var out []string
	if c.askedStep >= 0 {
		out = append(out, "asked "+count(c.askedStep))
	}
	switch c.state {
	case asked:
		if c.at > 0 {
			return append(out, t.dim.on("for step "+count(c.at)))
		}
		return append(out, t.warn.on("pending"+t.glyphs.wait))
	case refused:
		return append(out, t.bad.on(t.glyphs.cross+" "+c.why))
	}
	out = append(out, "applied "+count(c.appliedStep))
	switch {
	case c.state == inForce:
		out = append(out, t.good.on(t.glyphs.check+" in force "+count(c.forceStep)))
	case c.now && m.remaking():
		out = append(out, t.warn.on("under way: "+m.phase().String()))
	case c.why != "":
		out = append(out, t.dim.on(c.why))
	case c.class == knob.ClassGeneration:
		out = append(out, t.dim.on("waits for the next generation"))
	case c.class == knob.ClassRefit:
		out = append(out, t.dim.on("waits for the next refit"))
	}
	return out
}

// remaking says whether the run is making what a change of F or of the generator needs.
func (m *Model) remaking() bool {
	if m.snap == nil {
		return false
	}
	switch m.phase() {
	case knob.Score, knob.Fit, knob.Generate:
		return true
	}
	return false
}

// filtered are the lines that the filter lets through.
func (m *Model) filtered() []eventLine {
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
func (m *Model) openFilter() tea.Cmd {
	e := newEntry("filter: ", "a kind (knob, eval, refit, note, ...) or any text; empty shows all", func(m *Model, text string) tea.Cmd {
		m.setFilter(text)
		return nil
	})
	e.propose(m.filter)
	m.open(e)
	return nil
}

func (m *Model) setFilter(text string) {
	m.filter, m.eventsUpBy = text, 0
	m.history.touch(paneEvents)
	m.changed()
}

func (m *Model) eventsNote() string {
	if m.filter != "" {
		return m.theme.warn.on(fmt.Sprintf("%d of %d with %q", len(m.filtered()), len(m.history.lines), m.filter))
	}
	if m.eventsUpBy > 0 {
		return m.theme.warn.on(fmt.Sprintf("%d newer %s g follow", m.eventsUpBy, m.theme.glyphs.separator))
	}
	return m.theme.dim.on("newest first")
}

func (m *Model) scrollEvents(by int) tea.Cmd {
	m.eventsUpBy = max(0, min(m.eventsUpBy+by, len(m.filtered())-m.eventsRoom))
	m.history.touch(paneEvents)
	return nil
}

func (m *Model) eventsUp() tea.Cmd       { return m.scrollEvents(-1) }
func (m *Model) eventsDown() tea.Cmd     { return m.scrollEvents(1) }
func (m *Model) eventsPageUp() tea.Cmd   { return m.scrollEvents(-max(1, m.eventsRoom-1)) }
func (m *Model) eventsPageDown() tea.Cmd { return m.scrollEvents(max(1, m.eventsRoom-1)) }
func (m *Model) eventsFollow() tea.Cmd   { m.eventsUpBy = 0; m.history.touch(paneEvents); return nil }
