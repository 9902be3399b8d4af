package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
)

// elsewhere takes a key that does nothing in the pane in focus. If it means one thing for the panes that
// are seen, it does that; otherwise the screen says where the key does what.
func (m *Model) elsewhere(key string) tea.Cmd {
	var all, seen []pane.Binding
	for _, b := range m.palette.keys {
		if slices.Contains(b.Keys, key) {
			all = append(all, b)
			if slices.ContainsFunc(b.Panes, m.Visible) {
				seen = append(seen, b)
			}
		}
	}
	switch {
	case len(seen) == 1 && seen[0].Shared:
		return m.act(seen[0])
	case len(all) > 0:
		var where []string
		for _, b := range all {
			where = append(where, m.placeName(b.Panes[0])+": "+firstClause(b.Help))
		}
		m.Tell(m.Theme.KeyLabel(key) + " does nothing here; " + m.Theme.Spelled(strings.Join(where, "; ")))
	case utf8.RuneCountInString(key) == 1:
		m.Tell(key + " does nothing: ? lists the keys")
	}
	return nil
}

// placeName names a pane and the key that goes there: "in KNOBS (1)".
func (m *Model) placeName(id pane.ID) string {
	name := strings.ToUpper(m.pane(id).Tab())
	if charts.IsChart(id) {
		name = "a chart"
	}
	for _, b := range m.palette.keys {
		if b.Name == goTo(id) {
			name += " (" + b.Keys[0] + ")"
		}
	}
	return "in " + name
}

// goTo is the name of the command that goes to a pane.
func goTo(id pane.ID) string { return "go-" + string(id) }

// firstClause is a sentence up to its first mark.
func firstClause(text string) string {
	if i := strings.IndexAny(text, ":;,("); i > 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// moreWhenZoomed says whether a pane would show more on a whole screen than it does now.
func (m *Model) moreWhenZoomed(id pane.ID) bool {
	at, seen := m.layout.placeOf(id)
	if !seen {
		return true
	}
	now := m.pane(id).Body(m.inside(at.w, at.h))
	clipped := func(line string) bool { return strings.Contains(line, m.Theme.Glyphs.Ellipsis) }
	return slices.ContainsFunc(now, clipped) || len(m.pane(id).Body(m.inside(m.w, m.h-tabbedFrame))) > len(now)
}
