package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// Still is the screen, w columns by h lines, that a replay of events shows after env step at: lines
// of text with escape sequences for 24-bit colours on a dark ground. The same events give the same
// text in every time zone.
func Still(about pane.About, events []event.Event, at, w, h int) (string, error) {
	shown, err := stillOf(about.Config, about.Folder, events, at)
	if err != nil {
		return "", err
	}
	shown.WithScenes(about.Scenes)
	m := onPaper(about, shown, shown.now, w, h)
	m.Update(polled{})
	m.readForks()
	return m.View(), nil
}

// readForks reads the forks of a run at once, for a medium that cannot wait.
func (m *Model) readForks() {
	m.fans.NextAt = time.Time{} // an update has begun to read them, and cannot be waited for
	cmd := m.fans.ReadJournals()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, read := range msg {
			m.Update(read())
		}
	default:
		m.Update(msg)
	}
}

// stillOf is a replay that stands after the last event up to a step, as if it went on.
func stillOf(config config.Config, dir string, events []event.Event, at int) (*Replay, error) {
	if len(events) == 0 {
		return nil, fmt.Errorf("show step %d of %s: its journal is empty", at, dir)
	}
	if first, last := events[0].Step, events[len(events)-1].Step; at < first || at > last {
		return nil, fmt.Errorf("show step %d of %s: choose one from %d to %d, which its journal has", at, dir, first, last)
	}
	last := events[0]
	for _, e := range events {
		if e.Step <= at {
			last = e
		}
	}
	moment := last.Wall.UTC()
	r, err := NewReplay(config, dir, inUTC(events), 1, func() time.Time { return moment })
	if err != nil {
		return nil, err
	}
	r.at = moment.Sub(events[0].Wall)
	return r, nil
}

// inUTC returns the events with their times in UTC, so that they look the same everywhere.
func inUTC(events []event.Event) []event.Event {
	all := make([]event.Event, len(events))
	for i, e := range events {
		e.Wall = e.Wall.UTC()
		all[i] = e
	}
	return all
}
