package tui

import (
	"slices"
	"strings"

	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// footer lists the keys of the pane in focus as far as they fit; help and quit are always there.
func (m *Model) footer(w int) string {
	if m.entry != nil && m.entry.Pane == "" {
		return m.entry.Line(m.Theme, w)
	}
	if m.message != "" {
		mark := m.Theme.Accent.On(m.Theme.Glyphs.Cursor + " ")
		if strings.HasPrefix(m.message, m.cross()) { // a mark of its own
			mark = ""
		}
		return m.Theme.Fit(mark+m.message, w)
	}
	if m.Driver != "" {
		return m.WatchingLine(w)
	}
	var hints []hint
	var last []string
	for _, own := range []bool{true, false} { // the pane's own keys first
		for _, b := range m.palette.keys {
			if b.Does == "" || b.Name == "lessons" && (m.About.Replay && m.About.Scenes == nil || !m.About.Replay && m.Ended()) || !b.Works(m.focus) || (b.Panes != nil) != own || b.Of == m.otherKind() || b.Of == pane.OfStates && m.About.Config.Sees() || b.Steers() && m.Ended() && !m.About.Replay || m.Dreams() && !m.About.Replay && (ofAgents[b.Name] || b.Name == "now") {
				continue
			}
			text := m.Theme.Key.On(m.Theme.KeyLabel(b.Short())) + " " + m.Theme.Dim.On(m.doing(b))
			if b.Name == "help" || b.Name == "quit" {
				last = append(last, text)
			} else {
				hints = append(hints, hint{text, m.rank(b, own, len(hints))})
			}
		}
	}
	end := theme.Join(w, "  ", last...)
	start := theme.Join(w-theme.Width(end)-2, "  ", fitting(hints, w-theme.Width(end)-2)...)
	return m.Theme.Spread(start, end, w)
}

// hint is a key in the footer; where there is no room for all, those of the lowest rank stay.
type hint struct {
	text string
	rank int
}

// rank puts what makes a run go on again and the first two keys of a pane before those that change what is seen or begin something, and
// these before the pane's others; what is staged needs all keys of the knobs.
func (m *Model) rank(b pane.Binding, own bool, at int) int {
	switch {
	case b.Name == "pause" && (m.Paused() || m.About.Replay), own && (at < 2 || m.focus == pane.Knobs && len(m.steering.Staged) > 0):
		return 0
	case slices.Contains([]string{"palette", "fork", "lessons", "layout"}, b.Name):
		return 1
	case own:
		return 2
	}
	return 3
}

// fitting are the hints that fit into w columns, in their order.
func fitting(hints []hint, w int) (texts []string) {
	fits := make([]bool, len(hints))
	for rank := range 4 {
		for i, h := range hints {
			if h.rank == rank && theme.Width(h.text)+2 <= w+2 {
				fits[i] = true
				w -= theme.Width(h.text) + 2
			} else if h.rank == rank {
				w = 0 // what comes later is less important
			}
		}
	}
	for i, h := range hints {
		if fits[i] {
			texts = append(texts, h.text)
		}
	}
	return texts
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
