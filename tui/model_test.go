package tui

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/lab"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// screen is a model with a fake lab, a clock that stands still and no colours.
type screen struct {
	*Model
	fake  *fakeLab
	clock time.Time
	quit  bool
}

func newScreen(t *testing.T, w, h int, change func(*Options)) *screen {
	t.Helper()
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	s := &screen{fake: newFake(), clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	o := Options{Config: fakeConfig(), Device: "cpu avx2", Folder: "runs/x", References: []Reference{{Source: "paper", Mean: 817, Std: 36, Step: 100_000}},
		Names: []string{"height", "pitch", "back thigh", "speed x"}, Renderer: r, Clock: func() time.Time { return s.clock }}
	if change != nil {
		change(&o)
	}
	s.Model = New(o)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// running is a screen whose lab has made steps.
func running(t *testing.T, w, h, steps int) *screen {
	t.Helper()
	s := newScreen(t, w, h, nil)
	s.fake.advance(steps)
	s.Update(started{lab: s.fake})
	return s
}

// press sends keys by their names and polls the lab after each.
func (s *screen) press(keys ...string) {
	for _, k := range keys {
		_, cmd := s.Update(keyMsg(k))
		if cmd != nil {
			if _, ok := cmd().(tea.QuitMsg); ok {
				s.quit = true
			}
		}
		s.Update(polled{})
	}
}

func keyMsg(name string) tea.KeyMsg {
	for kind, n := range map[tea.KeyType]string{tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab",
		tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeyCtrlC: "ctrl+c", tea.KeyBackspace: "backspace",
		tea.KeyPgDown: "pgdown", tea.KeyPgUp: "pgup", tea.KeySpace: " "} {
		if n == name {
			if kind == tea.KeySpace {
				return tea.KeyMsg{Type: kind, Runes: []rune(" ")}
			}
			return tea.KeyMsg{Type: kind}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// contains fails unless the frame shows all of the texts.
func (s *screen) contains(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.View(), text) {
			t.Fatalf("the screen does not show %q:\n%s", text, s.View())
		}
	}
}

func (s *screen) lastCommand() lab.Command {
	if len(s.fake.commands) == 0 {
		return nil
	}
	return s.fake.commands[len(s.fake.commands)-1]
}

func TestGoldenFrames(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {120, 36}, {80, 24}, {60, 15}, {40, 10}, {39, 3}} {
		s := running(t, size.w, size.h, 24_000)
		s.press("down", "right", "right", "enter", "!", "down", "right", "enter")
		s.fake.advance(3_500)
		s.press("up", "right")
		golden(t, fmt.Sprintf("run-%dx%d", size.w, size.h), s.View())
	}
	fit := running(t, 160, 45, 30_000)
	fit.fake.setPhase(lab.Fit, 4_250, 10_000)
	fit.press(" ")
	golden(t, "fit-160x45", fit.View())
	ascii := newScreen(t, 110, 34, func(o *Options) { o.Characters = ASCII })
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

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got += "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", path, got)
	}
}

// Every width and every height once, in every state, without panic and exact.
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
	for name, s := range states {
		for w := 1; w <= 200; w++ {
			for h := 1 + w*7%67; h <= 200; h += 67 {
				s.Update(tea.WindowSizeMsg{Width: w, Height: h})
				exact(t, name, s.View(), w, h)
			}
		}
	}
}

func exact(t *testing.T, name, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", name, w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%s at %dx%d: line %d is %d wide: %q", name, w, h, i, got, l)
		}
	}
}

func TestASCIIScreenIsASCII(t *testing.T) {
	s := newScreen(t, 120, 40, func(o *Options) { o.Characters = ASCII })
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

func TestPauseAndResume(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.press(" ")
	s.contains(t, "‖ PAUSED", "space resume")
	s.press(" ")
	s.contains(t, "● RUN")
}

func TestQuitDialog(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.press("q", "esc")
	if s.quit || s.dialog != nil {
		t.Fatal("esc does not cancel")
	}
	s.press("q", "d")
	if !s.quit || s.stopRequested || s.lastCommand() != nil {
		t.Errorf("leaving: quit %v, stop %v, sent %#v", s.quit, s.stopRequested, s.lastCommand())
	}
	s = running(t, 80, 24, 24_000)
	s.press("ctrl+c", "s")
	if _, ok := s.lastCommand().(lab.Stop); !s.quit || !s.stopRequested || !ok {
		t.Errorf("stopping: quit %v, stop %v, sent %#v", s.quit, s.stopRequested, s.lastCommand())
	}
}

func TestSecondInterruptStops(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.press("ctrl+c")
	s.clock = s.clock.Add(6 * time.Second)
	s.press("ctrl+c")
	if s.quit {
		t.Fatal("a ctrl+c 6 s later stopped the run")
	}
	s.clock = s.clock.Add(2 * time.Second)
	s.press("ctrl+c")
	if !s.quit || !s.stopRequested {
		t.Error("a second ctrl+c within 5 s does not stop")
	}
}

func TestStartFailureCloses(t *testing.T) {
	s := newScreen(t, 80, 24, nil)
	_, cmd := s.Update(started{err: errors.New("no physics")})
	if _, ok := cmd().(tea.QuitMsg); !ok || s.startErr == nil {
		t.Error("a lab that does not start keeps the screen open")
	}
}

// The help explains every key of the table as the table has it, and nothing that is
// not there; so does that of the first screen.
func TestHelpHasEverything(t *testing.T) {
	keysOf := func(s *screen, title string) map[string]bool {
		got, inside := map[string]bool{}, false
		for _, l := range s.helpLines(1000) {
			switch {
			case strings.HasPrefix(l, "KEYS "):
				inside = strings.Contains(l, title)
			case l == "" || strings.HasPrefix(l, "COMMANDS"):
				inside = false
			case inside:
				got[strings.TrimRight(l, " ")] = true
			}
		}
		return got
	}
	compare := func(s *screen, title string, table []binding) {
		t.Helper()
		got, want := keysOf(s, title), map[string]bool{}
		for _, b := range table {
			if b.action == nil {
				t.Errorf("%s does nothing", b.name)
			}
			if b.help != "" {
				want[s.theme.fit(s.theme.keyLabel(b.title()), 16)+b.help] = true
			} else if !strings.HasPrefix(b.name, "digit-") {
				t.Errorf("%s has no help", b.name)
			}
		}
		for l := range want {
			if !got[l] {
				t.Errorf("not in the help: %q", l)
			}
		}
		for l := range got {
			if !want[l] && !strings.HasPrefix(l, "ctrl+c") && !strings.HasPrefix(l, "ctrl+g") {
				t.Errorf("in the help but not in the table: %q", l)
			}
		}
	}
	s := running(t, 120, 200, 1)
	compare(s, "", s.keys)
	compare(newPickerScreen(t, 120, 200), "on this screen", pickerKeys())
	text := strings.Join(s.helpLines(100), "\n")
	for _, d := range definitions {
		if !strings.Contains(text, d.name) {
			t.Errorf("no definition of %s", d.name)
		}
	}
}

// No key has two meanings in one pane.
func TestKeysAreUnambiguous(t *testing.T) {
	for pane := range paneCount {
		seen := map[string]bool{}
		for _, b := range keysTable() {
			for _, k := range b.keys {
				if b.works(pane) && seen[k] {
					t.Errorf("%q means two things in pane %s", k, paneNames[pane])
				}
				seen[k] = seen[k] || b.works(pane)
			}
		}
	}
}

func TestFocusVisitsEveryPane(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}, {60, 15}} {
		s := running(t, size[0], size[1], 12_000)
		seen := map[paneID]bool{}
		for range paneCount {
			seen[s.focus] = true
			if s.layout.kind != tabbed && !s.layout.visible(s.focus) {
				t.Errorf("%v: the focus is on pane %s, which is not shown", size, paneNames[s.focus])
			}
			s.press("tab")
		}
		want := 6 // of the focus view
		if s.layout.kind == tabbed {
			want = int(paneSentence)
		}
		if len(seen) != want {
			t.Errorf("%v: the focus visits %d panes, want %d", size, len(seen), want)
		}
	}
}

func TestScrolledEventsStay(t *testing.T) {
	s := running(t, 160, 45, 60_000)
	for s.focus != paneEvents {
		s.press("tab")
	}
	s.press("pgdown", "pgdown")
	first := s.eventsBody(90, 5)[0]
	s.fake.advance(3_000)
	s.Update(polled{})
	if again := s.eventsBody(90, 5)[0]; again != first {
		t.Errorf("new events moved the scrolled list: %q became %q", first, again)
	}
	s.press("g")
	if s.eventsUpBy != 0 {
		t.Error("g does not follow")
	}
}

func TestInspectShowsAMeasurement(t *testing.T) {
	s := running(t, 160, 45, 30_000)
	s.press("tab", "left", "left")
	if n := strings.Count(s.View(), "step 29,000"); n < 2 {
		t.Errorf("%d charts show the step under the cursor:\n%s", n, s.View())
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
	version := s.history.version[paneChart1]
	s.fake.advance(1)
	s.Update(polled{})
	if !s.stale || s.history.version[paneChart1] != version {
		t.Errorf("one env step: stale %v, return chart redrawn %v", s.stale, s.history.version[paneChart1] != version)
	}
}

// A paused run gives no reason to draw, in any layout, however long it lasts.
func TestPausedScreenIsNotDrawn(t *testing.T) {
	for v := range viewCount {
		s := running(t, 160, 45, 30_000)
		s.setView(v)
		s.press(" ")
		s.Update(polled{}) // the last answers to what was asked while it ran
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

func BenchmarkFrame(b *testing.B) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	f := newFake()
	f.advance(60_000)
	m := New(Options{Config: fakeConfig(), Renderer: r})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
	m.Update(started{lab: f})
	for b.Loop() {
		f.advance(1)
		m.Update(polled{})
		m.View()
	}
}

func BenchmarkWholeFrame(b *testing.B) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	f := newFake()
	f.advance(60_000)
	m := New(Options{Config: fakeConfig(), Renderer: r})
	m.Update(started{lab: f})
	for b.Loop() {
		m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
		m.View()
	}
}
