package tui

import (
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

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/maps"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// screen is a model with a fake lab, a stopped clock and no colours.
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
	o := Options{About: pane.About{Config: fakeConfig(), Device: "cpu avx2", Folder: "runs/x", References: []pane.Reference{{Source: "paper", Mean: 817, Std: 36, Step: 100_000}},
		Names: []string{"height", "pitch", "back thigh", "speed x"}}, Renderer: r, Clock: func() time.Time { return s.clock }}
	if change != nil {
		change(&o)
	}
	s.Model = New(o)
	s.knobs.Selected = 0 // keys in these tests count from the first knob
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
	for kind, n := range map[tea.KeyType]string{tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab", tea.KeyShiftLeft: "shift+left", tea.KeyShiftRight: "shift+right",
		tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlZ: "ctrl+z", tea.KeyBackspace: "backspace",
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

func (s *screen) lastCommand() event.Command {
	if len(s.fake.commands) == 0 {
		return nil
	}
	return s.fake.commands[len(s.fake.commands)-1]
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
		t.Errorf("%s differs (run with -update to accept):\n%s", path, difference(string(want), got))
	}
}

// difference returns the lines in which two frames differ, those of want first.
func difference(want, got string) string {
	was, is := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for i := range max(len(was), len(is)) {
		before, now := "", ""
		if i < len(was) {
			before = was[i]
		}
		if i < len(is) {
			now = is[i]
		}
		if before != now {
			fmt.Fprintf(&out, "line %d\n- %s\n+ %s\n", i+1, before, now)
		}
	}
	return out.String()
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

// paneIDs returns all panes in their order; tabIDs returns those that have a tab.
func (m *Model) paneIDs() []pane.ID { return idsOf(m.panes) }
func (m *Model) tabIDs() []pane.ID  { return idsOf(m.tabs()) }

func idsOf(panes []pane.Pane) (out []pane.ID) {
	for _, p := range panes {
		out = append(out, p.ID())
	}
	return out
}

// titleOf returns the title of a pane and its note.
func (m *Model) titleOf(id pane.ID, w int) (title, note string) { return m.pane(id).Title(w) }

func (m *Model) tabName(id pane.ID) string { return m.pane(id).Tab() }

func (m *Model) mapPane() *maps.Pane { return m.pane(pane.Map).(*maps.Pane) }

// chartVersion counts the changes that affect the charts.
func (m *Model) chartVersion() int {
	return m.History.Sum(m.pane(pane.Chart1).DependsOn()...)
}
