package tui

import (
	"slices"
	"strings"

	"pgrlab/core/printable"
)

// draw puts the frame together: exactly m.h lines of m.w columns.
func (m *Model) draw() []string {
	t := m.theme
	var lines []string
	switch {
	case m.help.isOpen():
		lines = m.help.view()
	case m.picker != nil:
		lines = m.picker.view(m.w, m.h)
	case m.lab == nil || m.snap == nil:
		lines = m.startingView()
	case m.layout.kind == oneLine:
		lines = []string{m.headline.short(m.w)}
		if m.lessons.given() && m.h > 2 {
			lines = append(lines, m.lessons.in(m.w, m.h-1)...)
		}
	default:
		lines = m.dashboard()
	}
	lines = t.fill(lines, m.w, m.h)
	if m.lessons.given() && !m.help.isOpen() && m.layout.kind != oneLine && m.snap != nil {
		n := m.h - m.layout.h
		copy(lines[m.h-1-n:m.h-1], t.fill(m.lessons.in(m.w, n), m.w, n))
	}
	if m.entry != nil && m.layout.kind != oneLine && m.lab != nil {
		if box := m.palette.view(m.w, m.h); box != nil && !m.help.isOpen() {
			copy(lines[m.h-1-len(box):], t.over(lines[m.h-1-len(box):m.h-1], box, m.w))
		}
	}
	if m.dialog != nil {
		lines = t.fill(overlay(lines, m.dialog.view(t, m.w, m.h), m.w), m.w, m.h)
	}
	if m.theme.set == ASCII {
		for i := range lines {
			lines[i] = asciiOnly(lines[i])
		}
	}
	return lines
}

// dashboard places the panes between header and footer.
func (m *Model) dashboard() []string {
	t, l := m.theme, m.layout
	lines := make([]string, m.h)
	lines[0] = t.fit(m.headline.line(m.w), m.w)
	lines[m.h-1] = t.fit(m.footer(m.w), m.w)
	if l.kind == tabbed {
		lines[1] = t.fit(m.tabBar(m.w), m.w)
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

// segment is one line of a pane, w columns wide, from column x on.
type segment struct {
	x, w int
	text string
}

// row joins the segments of one line; a gap of two columns between them holds the
// rule of the layout without boxes.
func (m *Model) row(segments []segment) string {
	t := m.theme
	if len(segments) > 1 {
		slices.SortStableFunc(segments, func(a, b segment) int { return a.x - b.x })
	}
	var b strings.Builder
	x := 0
	for _, s := range segments {
		if gap := s.x - x; gap > 0 {
			b.WriteString(t.faint.on(t.glyphs.vertical) + strings.Repeat(" ", gap-1))
		}
		b.WriteString(s.text)
		x = s.x + s.w
	}
	return b.String()
}

// paneAt draws one pane, or takes it from the cache when nothing it shows changed.
func (m *Model) paneAt(p place) []string {
	on := m.pane(p.id)
	version := m.history.sum(append(on.DependsOn(), topic(p.id))...)
	c, focused := m.cache[p.id], p.id == m.focus
	if c.lines != nil && c.version == version && c.w == p.w && c.h == p.h && c.focused == focused {
		return c.lines
	}
	lines := m.frameOf(on, p, focused)
	m.cache[p.id] = paneCache{version: version, w: p.w, h: p.h, focused: focused, lines: lines}
	return lines
}

// frameOf draws a pane with its title: in a box, or below a line.
func (m *Model) frameOf(on pane, p place, focused bool) []string {
	t := m.theme
	w, h := p.w, p.h-1
	if m.boxed {
		w, h = p.w-4, p.h-2 // the border and a column of air on both sides
	}
	title, note := on.Title(p.w)
	body := on.Body(w, h)
	if m.boxed {
		return t.box(title, note, indent(body), p.w, p.h, focused)
	}
	name := t.title
	mark := " "
	if focused {
		name, mark = t.titleFocus, t.glyphs.cursor
	}
	head := t.spread(name.on(mark+title), note, w)
	if m.layout.kind == ruled && p.id == paneEvents {
		head = t.ruleTitle(name.on(mark+title), note, w)
	}
	return append([]string{t.fit(head, w)}, t.fill(body, w, h)...)
}

// tabBar names all panes; the one in focus is marked.
func (m *Model) tabBar(w int) string {
	t := m.theme
	var names []string
	total := 0
	focus := 0
	for i, p := range m.tabs() {
		name := " " + p.Tab() + " "
		if p.ID() == m.focus {
			focus = i
			name = t.selected.on(t.glyphs.cursor + p.Tab() + " ")
		} else {
			name = t.dim.on(name)
		}
		names = append(names, name)
		total += width(name)
	}
	if total <= w {
		return strings.Join(names, "")
	}
	// Too narrow for all: the tab in focus second, so that both neighbours show, and
	// whole names only.
	var b strings.Builder
	first := (focus + len(names) - 1) % len(names)
	more := " " + t.dim.on(t.glyphs.ellipsis)
	used := width(more)
	for i := range names {
		name := names[(first+i)%len(names)]
		if used += width(name); used > w {
			break
		}
		b.WriteString(name)
	}
	return b.String() + more
}

// startingView stands until the lab exists.
func (m *Model) startingView() []string {
	t := m.theme
	o := m.options
	lines := []string{
		t.stateStart.on(t.glyphs.dot+" STARTING") + "  " + t.bold.on(o.Config.Task) + " " + t.glyphs.separator + " " + o.Config.Method,
		"",
		t.dim.on("compiling the physics and the training plans: some seconds"),
	}
	if o.Folder != "" {
		lines = append(lines, t.dim.on("run folder  "+o.Folder))
	}
	if m.leaving.soon {
		lines = append(lines, t.dim.on("the shell gets its terminal back as soon as the run has started"))
	}
	lines = append(lines, "", t.key.on("q")+" "+t.dim.on("quit"))
	if m.layout.kind == oneLine {
		return lines[:1]
	}
	top := max(0, (m.h-len(lines))/2)
	out := make([]string, top, m.h)
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", max(0, min(m.w/2-36, m.w/4)))+"  "+l)
	}
	return out
}

// framed is a frame of lines as the terminal gets it. What others wrote, names of folders
// and errors among it, is quoted in many places; here none is forgotten.
func (m *Model) framed(lines []string) string {
	drawn := strings.Join(lines, "\n")
	frame := printable.Styled(drawn)
	if frame != drawn { // what is seen now may be wider than what was not
		frame = strings.Join(m.theme.fill(strings.Split(frame, "\n"), m.w, m.h), "\n")
	}
	return frame
}
