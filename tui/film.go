package tui

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// Film calls show with the screens, w columns by h lines, that a replay of events shows from their beginning to
// their end, speed seconds of the run in a second, perSecond of them in a second, and with their times in the
// film. Lines are as those of Still. The same events give the same film.
func Film(ctx context.Context, about pane.About, events []event.Event, speed, perSecond float64, w, h int, show func(at time.Duration, frame string) error) error {
	all := inUTC(events)
	var now time.Time // the clock of the screen
	if len(all) > 0 {
		now = all[0].Wall
	}
	begun := now
	clock := func() time.Time { return now }
	played, err := NewReplay(about.Config, about.Folder, all, speed, clock)
	if err != nil {
		return err
	}
	m := onPaper(about, played.WithScenes(about.Scenes), clock, w, h)
	for n := 0; ; n++ {
		at := time.Duration(float64(n) / perSecond * float64(time.Second))
		now = begun.Add(at)
		m.Update(polled{})
		m.readForks()
		if err := show(at, m.View()); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if played.over() {
			return nil
		}
	}
}

// onPaper is the screen of a lab for a medium with 24-bit colours on a dark ground.
func onPaper(about pane.About, l pane.Lab, clock func() time.Time, w, h int) *Model {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	r.SetHasDarkBackground(true)
	m := New(Options{About: about, Renderer: r, Clock: clock, Start: func() (pane.Lab, error) { return l, nil }})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(started{lab: l})
	return m
}
