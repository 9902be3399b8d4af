package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// eventsBody shows the newest events that fit, or those around the scroll position.
func (m *Model) eventsBody(w, h int) []string {
	lines := m.history.lines
	m.eventsRoom = h
	m.eventsUpBy = max(0, min(m.eventsUpBy, len(lines)-h))
	end := len(lines) - m.eventsUpBy
	out := make([]string, 0, h)
	for i := end - 1; i >= 0 && len(out) < h; i-- {
		out = append(out, m.eventText(lines[i], w))
	}
	return out
}

// eventText is one line: time, step, kind, text.
func (m *Model) eventText(l eventLine, w int) string {
	t := m.theme
	text := l.text
	if l.change != nil {
		text = m.changeText(l.change, w >= 90)
	}
	kind := t.kindInk(l).on(t.fit(l.kind, 7))
	clock := t.faint.on(l.wall.Format("15:04:05"))
	if w < 60 {
		return t.fit(clock+" "+kind+" "+text, w)
	}
	step := t.dim.on(fmt.Sprintf("%9s", count(l.step)))
	return t.fit(clock+step+"  "+kind+" "+text, w)
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

// changeText is a change with its stamps.
func (m *Model) changeText(c *change, long bool) string {
	t := m.theme
	var b strings.Builder
	if c.number > 0 {
		b.WriteString(t.markerNumber.on(fmt.Sprintf("#%d ", c.number)))
	}
	b.WriteString(fmt.Sprintf("%s %s %s %s", m.knobTitle(c.knob), readable(c.from), t.glyphs.arrow, readable(c.to)))
	if c.now {
		b.WriteString(" now")
	}
	if c.undoes > 0 {
		fmt.Fprintf(&b, " (undoes #%d)", c.undoes)
	}
	stamps := []string{}
	if c.askedStep >= 0 && long && c.why == "" {
		stamps = append(stamps, "asked "+count(c.askedStep))
	}
	switch c.state {
	case asked:
		stamps = append(stamps, t.warn.on("pending"+t.glyphs.wait))
	case refused:
		stamps = append(stamps, t.bad.on(t.glyphs.cross+" "+c.why))
	default:
		if long || c.state != inForce {
			stamps = append(stamps, "applied "+count(c.appliedStep))
		}
		switch {
		case c.state == inForce:
			stamps = append(stamps, t.good.on(t.glyphs.check+" in force "+count(c.forceStep)))
		case c.why != "":
			stamps = append(stamps, t.dim.on(c.why))
		}
	}
	return b.String() + "  " + strings.Join(stamps, t.faint.on(" "+t.glyphs.separator+" "))
}

func (m *Model) eventsNote() string {
	if m.eventsUpBy > 0 {
		return m.theme.warn.on(fmt.Sprintf("%d newer %s g follow", m.eventsUpBy, m.theme.glyphs.separator))
	}
	return m.theme.dim.on("newest first")
}

func (m *Model) scrollEvents(by int) tea.Cmd {
	m.eventsUpBy = max(0, min(m.eventsUpBy+by, len(m.history.lines)-m.eventsRoom))
	m.history.touch(paneEvents)
	return nil
}

func (m *Model) eventsUp() tea.Cmd       { return m.scrollEvents(-1) }
func (m *Model) eventsDown() tea.Cmd     { return m.scrollEvents(1) }
func (m *Model) eventsPageUp() tea.Cmd   { return m.scrollEvents(-max(1, m.eventsRoom-1)) }
func (m *Model) eventsPageDown() tea.Cmd { return m.scrollEvents(max(1, m.eventsRoom-1)) }
func (m *Model) eventsFollow() tea.Cmd   { m.eventsUpBy = 0; m.history.touch(paneEvents); return nil }
