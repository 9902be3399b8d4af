package tui

import (
	"context"
	"io"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"pgrlab/tui/theme"
)

// Viewer is a terminal of another process, as this process reaches it.
type Viewer struct {
	Input  io.Reader   // the keys, as the terminal sends them; its end is a hang-up
	Output io.Writer   // a write may block: only this screen waits for it
	Sizes  <-chan Size // the first one is known before the first frame
	// Environ has the variables that say what the terminal can do (TERM, COLORTERM, NO_COLOR,
	// COLORFGBG, …).
	Environ termenv.Environ
}

// Size is the size of a terminal in columns and rows.
type Size struct{ Columns, Rows int }

// screens numbers the screens that this process serves.
var screens atomic.Int64

// Serve shows the screen to a viewer until the person leaves, the line breaks or ctx ends. Colours
// and characters are those of the viewer's terminal; the signals, stderr and terminal of this
// process are not touched. After the return, Input and Output may remain in use until they are
// closed.
func Serve(ctx context.Context, o Options, v Viewer) (Outcome, error) {
	o.Renderer = theme.NewRenderer(v.Output, v.Environ)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.screen = screens.Add(1)
	if o.Plain {
		return runPlain(ctx, o, v.Input, v.Output)
	}
	m := New(o)
	m.environ = v.Environ
	m.setLink(&link{})
	m.applySettings()
	hangup := newOnce()
	frames := &frames{to: v.Output, lost: hangup.do, link: m.headline.link}
	m.showPictures(ctx, frames, v.Environ.Getenv("TERM"), nil)
	keys := newKeyboard(ctx, v.Input, m.pictures.asker, hangup.do)
	program := newProgram(m, keys, frames, tea.WithFilter(dropSuspend))
	sized := make(chan struct{})
	go func() {
		defer close(sized)
		resize(ctx, program, v.Sizes)
	}()
	outcome, err := m.outcome(hangup.happened, ctx, runUntil(ctx, program, hangup), v.Output)
	if !hangup.happened() {
		keys.settle()
	}
	cancel()
	<-sized
	return outcome, err
}

// resize passes the viewer's sizes to the program until ctx ends.
func resize(ctx context.Context, program *tea.Program, sizes <-chan Size) {
	for {
		select {
		case <-ctx.Done():
			return
		case s, open := <-sizes:
			if !open {
				return
			}
			program.Send(tea.WindowSizeMsg{Width: s.Columns, Height: s.Rows}) // returns at once when the program has ended
		}
	}
}

// dropSuspend keeps a screen on another terminal from suspending this process, which trains.
func dropSuspend(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}
