package tui

// footer lists the keys of the pane in focus as far as they fit; help and quit
// always do.
func (m *Model) footer(w int) string {
	if m.entry != nil && m.entry.pane == "" {
		return m.entry.line(m.theme, w)
	}
	if m.told != "" {
		return m.theme.fit(m.theme.accent.on(m.theme.glyphs.cursor+" ")+m.told, w)
	}
	if m.driver != "" {
		return m.watchingLine(w)
	}
	var hints, last []string
	for _, own := range []bool{true, false} { // those of the pane first
		for _, b := range m.palette.keys {
			if b.does == "" || !b.works(m.focus) || (b.panes != nil) != own || b.of == m.otherKind() || b.steers() && m.ended() && !m.about.Replay {
				continue
			}
			hint := m.theme.key.on(m.theme.keyLabel(b.short())) + " " + m.theme.dim.on(m.doing(b))
			if b.name == "help" || b.name == "quit" {
				last = append(last, hint)
			} else {
				hints = append(hints, hint)
			}
		}
	}
	end := join(w, "  ", last...)
	start := join(w-width(end)-2, "  ", hints...)
	return m.theme.spread(start, end, w)
}

// otherKind is the kind of run that this one is not.
func (m *Model) otherKind() runKind {
	if m.about.Replay {
		return liveRun
	}
	return replayed
}

// doing is what a key does now.
func (m *Model) doing(b binding) string {
	if b.name == "pause" && m.paused() {
		return "resume"
	}
	return b.does
}
