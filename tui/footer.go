package tui

import (
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// footer lists the keys of the pane in focus as far as they fit; help and quit are always there.
func (m *Model) footer(w int) string {
	if m.entry != nil && m.entry.Pane == "" {
		return m.entry.Line(m.Theme, w)
	}
	if m.told != "" {
		return m.Theme.Fit(m.Theme.Accent.On(m.Theme.Glyphs.Cursor+" ")+m.told, w)
	}
	if m.Driver != "" {
		return m.WatchingLine(w)
	}
	var hints, last []string
	for _, own := range []bool{true, false} { // the pane's own keys first
		for _, b := range m.palette.keys {
			if b.Does == "" || !b.Works(m.focus) || (b.Panes != nil) != own || b.Of == m.otherKind() || b.Of == pane.OfStates && m.About.Config.Sees() || b.Steers() && m.Ended() && !m.About.Replay {
				continue
			}
			hint := m.Theme.Key.On(m.Theme.KeyLabel(b.Short())) + " " + m.Theme.Dim.On(m.doing(b))
			if b.Name == "help" || b.Name == "quit" {
				last = append(last, hint)
			} else {
				hints = append(hints, hint)
			}
		}
	}
	end := theme.Join(w, "  ", last...)
	start := theme.Join(w-theme.Width(end)-2, "  ", hints...)
	return m.Theme.Spread(start, end, w)
}

// otherKind is the kind that this run is not.
func (m *Model) otherKind() pane.RunKind {
	if m.About.Replay {
		return pane.LiveRun
	}
	return pane.Replayed
}

// doing is what a key does at present.
func (m *Model) doing(b pane.Binding) string {
	switch {
	case b.Name == "pause" && m.Paused():
		return "resume"
	case b.Name == "pause" && m.Ended(): // only a replay has the key then
		return "play again"
	case b.Name == "quit" && m.About.Picked:
		return "to the runs"
	}
	return b.Does
}
