package tui

import (
	"cmp"
	"slices"
	"strings"

	"pgrlab/core/printable"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// draw puts the frame together: exactly m.h lines of m.w columns.
func (m *Model) draw() []string {
	t := m.Theme
	var lines []string
	switch {
	case m.help.IsOpen():
		lines = m.help.View()
	case m.picker != nil:
		lines = m.picker.View(m.w, m.h)
	case m.Lab == nil || m.Snap == nil:
		lines = m.startingView()
	case m.layout.kind == oneLine:
		lines = m.short()
	default:
		lines = m.dashboard()
	}
	lines = t.Fill(lines, m.w, m.h)
	if m.lessons.Given() && !m.help.IsOpen() && m.layout.kind != oneLine && m.Snap != nil {
		n := m.h - m.layout.h
		copy(lines[m.h-1-n:m.h-1], t.Fill(m.lessons.In(m.w, n), m.w, n))
	}
	if m.ground.Shown() && !m.help.IsOpen() && m.layout.kind != oneLine {
		foot := m.layout.h - 1 // above the footer, or a lesson
		box := m.ground.View(m.w, m.layout.h)
		copy(lines[foot-len(box):], t.Over(lines[foot-len(box):foot], box, m.w))
	}
	if m.entry != nil && m.layout.kind != oneLine && m.Lab != nil {
		if box := m.palette.view(m.w, m.h); box != nil && !m.help.IsOpen() {
			copy(lines[m.h-1-len(box):], t.Over(lines[m.h-1-len(box):m.h-1], box, m.w))
		}
	}
	if m.dialog != nil {
		lines = t.Fill(theme.Overlay(lines, m.dialog.View(t, m.w, m.h), m.w), m.w, m.h)
	}
	if m.Theme.Set == theme.ASCII {
		for i := range lines {
			lines[i] = theme.ASCIIOnly(lines[i])
		}
	}
	return lines
}

// short is the screen where there is no room for panes: the run in one line, and below it what is
// typed or was answered, and the lesson. A single line shows what is typed.
func (m *Model) short() []string {
	lines := []string{m.headline.short(m.w)}
	switch said := cmp.Or(m.message, m.steering.Message); {
	case m.entry != nil && m.h < 2:
		return []string{m.entry.Line(m.Theme, m.w)}
	case m.entry != nil:
		lines = append(lines, m.entry.Line(m.Theme, m.w))
	case said != "" && m.h > 1:
		lines = append(lines, theme.WrapStyled(said, m.w)...)
	}
	for _, l := range m.ground.Text() {
		lines = append(lines, theme.WrapStyled(l, m.w)...)
	}
	if m.lessons.Given() && m.h > 1+len(lines) {
		lines = append(lines, m.lessons.In(m.w, m.h-len(lines))...)
	}
	return lines
}

// dashboard places the panes between header and footer.
func (m *Model) dashboard() []string {
	t, l := m.Theme, m.layout
	lines := make([]string, m.h)
	lines[0] = t.Fit(m.headline.line(m.w), m.w)
	lines[m.h-1] = t.Fit(m.projector.foot(m.w), m.w)
	if l.kind == tabbed {
		lines[1] = t.Fit(m.tabBar(m.w), m.w)
	}
	rows := make([][]segment, m.h)
	for _, p := range l.places {
		for i, line := range m.paneAt(p) {
			if y := p.y + i; y < m.h {
				rows[y] = append(rows[y], segment{p.x, p.w, line})
			}
		}
	}
	for y, segments := range rows {
		if len(segments) > 0 {
			lines[y] = m.row(segments)
		}
	}
	return lines
}

// segment is one line of a pane, w columns wide, starting at column x.
type segment struct {
	x, w int
	text string
}

// row joins the segments of one line; in the layout without boxes, a gap of two columns between
// them holds the rule.
func (m *Model) row(segments []segment) string {
	t := m.Theme
	if len(segments) > 1 {
		slices.SortStableFunc(segments, func(a, b segment) int { return a.x - b.x })
	}
	var b strings.Builder
	x := 0
	for _, s := range segments {
		if gap := s.x - x; gap > 0 {
			b.WriteString(t.Faint.On(t.Glyphs.Vertical) + strings.Repeat(" ", gap-1))
		}
		b.WriteString(s.text)
		x = s.x + s.w
	}
	return b.String()
}

// paneAt draws one pane, or takes it from the cache if nothing that it shows has changed.
func (m *Model) paneAt(p place) []string {
	on := m.pane(p.id)
	version := m.History.Sum(append(on.DependsOn(), topic.Topic(p.id))...)
	c, focused := m.cache[p.id], p.id == m.focus
	if c.lines != nil && c.version == version && c.w == p.w && c.h == p.h && c.focused == focused {
		return c.lines
	}
	lines := m.frameOf(on, p, focused)
	m.cache[p.id] = paneCache{version: version, w: p.w, h: p.h, focused: focused, lines: lines}
	return lines
}

// frameOf draws a pane with its title: in a box, or below a line.
func (m *Model) frameOf(on pane.Pane, p place, focused bool) []string {
	t := m.Theme
	w, h := m.inside(p.w, p.h)
	if p.id == pane.Banner {
		return t.Fill(theme.Indent(on.Body(p.w-4, p.h)), p.w, p.h)
	}
	title, note := on.Title(p.w)
	body := on.Body(w, h)
	if m.Boxed {
		return t.Box(title, note, theme.Indent(body), p.w, p.h, focused)
	}
	name := t.Title
	mark := " "
	if focused {
		name, mark = t.TitleFocus, t.Glyphs.Cursor
	}
	head := t.Spread(name.On(mark+title), note, w)
	if m.layout.kind == ruled && p.id == pane.Events {
		head = t.RuleTitle(name.On(mark+title), note, w)
	}
	return append([]string{t.Fit(head, w)}, t.Fill(body, w, h)...)
}

// inside is the room for the body of a pane of w by h.
func (m *Model) inside(w, h int) (int, int) {
	if m.Boxed {
		return w - 4, h - 2 // the border and a column of air on both sides
	}
	return w, h - 1
}

// tabBar names all panes and marks the one in focus.
func (m *Model) tabBar(w int) string {
	t := m.Theme
	var names []string
	total := 0
	focus := 0
	for i, p := range m.tabs() {
		name := " " + p.Tab() + " "
		if p.ID() == m.focus {
			focus = i
			name = t.Selected.On(t.Glyphs.Cursor + p.Tab() + " ")
		} else {
			name = t.Dim.On(name)
		}
		names = append(names, name)
		total += theme.Width(name)
	}
	if total <= w {
		return strings.Join(names, "")
	}
	// Too narrow for all: show whole names only, with the tab in focus second, so that both
	// neighbours show.
	var b strings.Builder
	first := (focus + len(names) - 1) % len(names)
	more := " " + t.Dim.On(t.Glyphs.Ellipsis)
	used := theme.Width(more)
	for i := range names {
		name := names[(first+i)%len(names)]
		if used += theme.Width(name); used > w {
			break
		}
		b.WriteString(name)
	}
	return b.String() + more
}

// framed is a frame of lines as the terminal gets it. Text from outside, such as names of folders
// and errors, is quoted in many places; cleaning it here forgets none of them.
func (m *Model) framed(lines []string) string {
	drawn := strings.Join(lines, "\n")
	frame := printable.Styled(drawn)
	if frame != drawn { // what is seen now may be wider than what was hidden
		frame = strings.Join(m.Theme.Fill(strings.Split(frame, "\n"), m.w, m.h), "\n")
	}
	return frame
}
