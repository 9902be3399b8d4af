package tui

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/core/knob"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

func TestGoldenFrames(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {120, 36}, {80, 24}, {60, 15}, {40, 10}, {39, 3}} {
		s := running(t, size.w, size.h, 24_000)
		s.press("down", "right", "right", "enter", "!", "down", "right", "enter")
		s.fake.advance(3_500)
		s.press("up", "right")
		golden(t, fmt.Sprintf("run-%dx%d", size.w, size.h), s.View())
	}
	fit := running(t, 160, 45, 30_000)
	fit.fake.setPhase(knob.Fit, 4_250, 10_000)
	fit.press(" ")
	golden(t, "fit-160x45", fit.View())
	ascii := newScreen(t, 110, 34, func(o *Options) { o.Characters = theme.ASCII })
	ascii.fake.advance(30_000)
	ascii.Update(started{lab: ascii.fake})
	golden(t, "ascii-110x34", ascii.View())
	golden(t, "starting-80x24", newScreen(t, 80, 24, nil).View())
	empty := running(t, 110, 34, 700)
	golden(t, "empty-110x34", empty.View())
	help := running(t, 80, 24, 700)
	help.press("?")
	golden(t, "help-80x24", help.View())
	quit := running(t, 80, 24, 12_000)
	quit.press("q")
	golden(t, "quit-80x24", quit.View())
}

// Every width and every height is drawn once, in every state, without a panic and with the exact
// size. The long form draws each three times; under the race detector, which has only one goroutine
// to watch, only some are drawn.
func TestEverySize(t *testing.T) {
	states := map[string]*screen{
		"starting": newScreen(t, 80, 24, nil),
		"empty":    running(t, 80, 24, 0),
		"run":      running(t, 80, 24, 33_000),
		"dialog":   running(t, 80, 24, 12_000),
		"help":     running(t, 80, 24, 12_000),
		"zoom":     running(t, 80, 24, 12_000),
	}
	states["run"].press("right", "enter", "enter")
	states["dialog"].press("q")
	states["help"].press("?")
	states["zoom"].press("tab", "+")
	turns, step := 1, 1
	if os.Getenv("PGRLAB_SOAK") != "" {
		turns = 3
	}
	if racing.On {
		step = 9
	}
	for name, s := range states {
		for w := 1; w <= 200; w += step {
			for turn := range turns {
				h := 1 + (w*67+turn*71)%200 // 67 and 200 have no common divisor
				s.Update(tea.WindowSizeMsg{Width: w, Height: h})
				exact(t, name, s.View(), w, h)
			}
		}
	}
}

func TestASCIIScreenIsASCII(t *testing.T) {
	s := newScreen(t, 120, 40, func(o *Options) { o.Characters = theme.ASCII })
	s.fake.advance(30_000)
	s.Update(started{lab: s.fake})
	for _, keys := range [][]string{nil, {"down", "right"}, {"enter"}, {"esc"}, {"?"}, {"pgdown"}} {
		s.press(keys...)
		for _, b := range []byte(s.View()) {
			if b >= 0x80 {
				t.Fatalf("after %v:\n%s", keys, s.View())
			}
		}
	}
}

func TestNoColourWritesNoEscapes(t *testing.T) {
	s := running(t, 160, 45, 30_000)
	if strings.Contains(s.View(), "\x1b") {
		t.Fatalf("%q", s.View())
	}
}

// A frame is put together only when something changed.
func TestFrameIsKept(t *testing.T) {
	s := running(t, 160, 45, 30_000)
	s.View()
	s.Update(polled{})
	if s.stale {
		t.Error("polling an unchanged lab makes the frame stale")
	}
	version := s.chartVersion()
	s.fake.advance(1)
	s.Update(polled{})
	if !s.stale || s.chartVersion() != version {
		t.Errorf("one env step: stale %v, return chart redrawn %v", s.stale, s.chartVersion() != version)
	}
}

// A paused run causes no drawing, in any layout, however long it stays paused.
func TestPausedScreenIsNotDrawn(t *testing.T) {
	for v := range viewCount {
		s := running(t, 160, 45, 30_000)
		s.setView(v)
		s.press(" ")
		s.Update(polled{}) // the last answers to questions asked while it ran
		s.View()
		for range 100 {
			s.clock = s.clock.Add(time.Second)
			s.Update(polled{})
			if s.stale {
				t.Fatalf("layout %s is drawn again while nothing happens", v)
			}
		}
	}
}

// Frames are the same in every locale, even where other programs give characters of ambiguous width
// two columns, as in Japan. Separate processes draw the golden frames. C stands for a locale without
// UTF-8.
func TestFramesDoNotDependOnTheLocale(t *testing.T) {
	if os.Getenv("PGRLAB_LOCALE") != "" {
		t.Skip("this is such a process")
	}
	if racing.On {
		t.Skip("the detector sees these tests in this process")
	}
	for _, locale := range []string{"C", "ja_JP.UTF-8"} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run", "^TestGolden")
			c.Env = append(os.Environ(), "PGRLAB_LOCALE=1", "LC_ALL="+locale, "LANG="+locale, "LC_CTYPE="+locale)
			if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// coloured is a model with a scripted run, in all colours.
func coloured() (*Model, *fakeLab) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	f := newFake()
	f.advance(60_000)
	m := New(Options{About: pane.About{Config: fakeConfig()}, Renderer: r})
	m.Update(started{lab: f})
	return m, f
}

func BenchmarkFrame(b *testing.B) {
	m, f := coloured()
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
	for b.Loop() {
		f.advance(1)
		m.Update(polled{})
		m.View()
	}
}

func BenchmarkWholeFrame(b *testing.B) {
	m, _ := coloured()
	for b.Loop() {
		m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
		m.View()
	}
}
