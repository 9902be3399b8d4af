package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/pane/system"
)

// still gives the system pane numbers that do not depend on this machine.
func (s *screen) still() {
	s.system.Machine = system.Machine{At: s.clock, CPUs: 2, Cores: 1.52, Busy: 0.8, Resident: 412e6, Heap: 96e6, Total: 8e9, Free: 5e9, BusyPast: []float64{1, 1.5, 1.2}}
}

// Every pane is drawn alone at every size.
func TestGoldenPanes(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := running(t, size.w, size.h, 24_000)
		s.still()
		s.press("n", "l", "o", "o", "k", "enter", "down", "right", "right", "enter", "!")
		s.fake.advance(3_500)
		s.press("]", "right")
		var b strings.Builder
		for _, id := range s.tabIDs() {
			s.GoTo(id)
			s.zoomed = true
			s.Relayout()
			exact(t, string(id), s.View(), size.w, size.h)
			b.WriteString("== " + string(id) + "\n" + s.View() + "\n")
		}
		golden(t, fmt.Sprintf("panes-%dx%d", size.w, size.h), b.String())
	}
}

func TestGoldenViews(t *testing.T) {
	for _, v := range []view{fullView, presentView} {
		for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}} {
			s := running(t, size.w, size.h, 24_000)
			s.still()
			s.press("down", "right", "right", "enter")
			s.fake.advance(3_500)
			s.setView(v)
			s.press(" ")
			golden(t, fmt.Sprintf("%s-%dx%d", v, size.w, size.h), s.View())
		}
	}
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		picker := newPickerScreen(t, size.w, size.h)
		picker.Update(picker.forecast()())
		golden(t, fmt.Sprintf("picker-%dx%d", size.w, size.h), picker.View())
	}
	palette := running(t, 80, 24, 24_000)
	palette.press(":", "g", "u")
	golden(t, "palette-80x24", palette.View())
}

// Every layout of every size fits the screen, and no two panes overlap.
func TestLayoutsFitAndDoNotOverlap(t *testing.T) {
	for w := 1; w <= 200; w++ {
		for h := 1 + w%3; h <= 200; h += 3 {
			for v := range viewCount {
				for _, focus := range []pane.ID{pane.Knobs, pane.Chart3, pane.Map} {
					d := division{w: w, h: h, view: v, focus: focus, chart: pane.Chart1, panel: pane.Scores, scores: []pane.ID{pane.Scores, pane.Agent}[w%2]}
					checkLayout(t, d, divide(d))
				}
			}
		}
	}
}

func checkLayout(t *testing.T, d division, l layout) {
	t.Helper()
	if l.kind == oneLine {
		return
	}
	if !l.visible(d.focus) {
		t.Fatalf("%+v: the focus is not shown", d)
	}
	for i, p := range l.places {
		if p.x < 0 || p.y < 1 || p.w < 1 || p.h < 1 || p.x+p.w > d.w || p.y+p.h > d.h-1 {
			t.Fatalf("%+v: pane %s is at %+v", d, string(p.id), p)
		}
		for _, q := range l.places[:i] {
			if p.x < q.x+q.w && q.x < p.x+p.w && p.y < q.y+q.h && q.y < p.y+p.h {
				t.Fatalf("%+v: %+v and %+v overlap", d, p, q)
			}
		}
	}
}

func TestForbiddenAndDoubleKeys(t *testing.T) {
	s := running(t, 80, 24, 1)
	names := map[string]bool{}
	for _, b := range s.keysTable() {
		if names[b.Name] || b.Name == "" {
			t.Errorf("two bindings are called %q", b.Name)
		}
		names[b.Name] = true
		for _, k := range b.Keys {
			if slices.Contains(reserved, k) {
				t.Errorf("%s is %s, which terminals keep", b.Name, k)
			}
			if k == "esc" && len(b.Keys) < 2 {
				t.Errorf("%s has no second key beside esc", b.Name)
			}
		}
	}
}

func TestPastedTextAndSeveralRunesAreNoCommands(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	for _, msg := range []tea.KeyMsg{
		{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true},
		{Type: tea.KeyRunes, Runes: []rune(" zq"), Paste: true},
		{Type: tea.KeyRunes, Runes: []rune("zz")},
	} {
		s.Update(msg)
		if s.dialog != nil || len(s.fake.commands) > 0 {
			t.Fatalf("%q did something", msg.Runes)
		}
	}
	s.press(":")
	s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("note pasted q"), Paste: true})
	s.press("enter")
	if n, ok := s.lastCommand().(event.Note); !ok || n.Text != "pasted q" {
		t.Errorf("sent %#v", s.lastCommand())
	}
}

func TestEscapeHasASecondKeyEverywhere(t *testing.T) {
	for _, open := range []string{":", "n", "q", "?"} {
		s := running(t, 160, 45, 24_000)
		s.press(open)
		if s.entry == nil && s.dialog == nil && !s.help.IsOpen() {
			t.Fatalf("%s opens nothing", open)
		}
		s.Update(tea.KeyMsg{Type: tea.KeyCtrlG})
		if s.entry != nil || s.dialog != nil || s.help.IsOpen() {
			t.Errorf("ctrl+g does not leave what %s opens", open)
		}
	}
}

func TestUndoAndRedo(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("Z")
	s.contains(t, "nothing to redo")
	s.press("down", "down", "right", "enter", "z")
	s.contains(t, "(undoes #1)")
	s.press("Z")
	s.contains(t, "(redoes #1)", "#3 r ratio 0.5 → 0.625")
	n := len(s.fake.commands)
	s.press("Z")
	if len(s.fake.commands) != n {
		t.Error("redo does the same twice")
	}
	s.contains(t, "TOUCHED ×3")
	s.press("z", "Z")
	s.contains(t, "(undoes #3)", "(redoes #3)")
	s.press("left", "enter", "z", "z", "Z", "Z") // two changes are taken back and made again
	s.contains(t, "(redoes #5)", "(redoes #6)")
	s.press("right", "enter", "z")
	n = len(s.fake.commands)
	s.steering.Undo() // the run has not answered yet
	s.steering.Redo() // of that undo, not of the one before it
	if len(s.fake.commands) != n+1 {
		t.Errorf("sent %+v", s.fake.commands[n:])
	}
}

func TestChartCommands(t *testing.T) {
	s := running(t, 160, 45, 30_000)
	s.press("tab", "]")
	s.contains(t, "DORMANT RATIO")
	s.press("[", "x")
	s.contains(t, "x: updates")
	s.press("x")
	s.contains(t, "x: wall", "4m")
	s.press("x", "=", "=")
	if lo, hi := s.charts.Span(); lo != 22_500 || hi != 30_000 || !s.charts.Window.Follow {
		t.Errorf("zoomed to %v..%v", lo, hi)
	}
	s.fake.advance(2_000)
	s.Update(polled{})
	if lo, hi := s.charts.Span(); lo != 24_500 || hi != 32_000 {
		t.Errorf("following shows %v..%v", lo, hi)
	}
	s.press(",")
	if _, hi := s.charts.Span(); hi != 30_125 {
		t.Errorf("panned to %v", hi)
	}
	s.press("g")
	if lo, hi := s.charts.Span(); lo != 0 || hi != 32_000 {
		t.Errorf("following everything shows %v..%v", lo, hi)
	}
	s.press("-", "-")
	if lo, hi := s.charts.Span(); lo != 0 || hi != 100_000 {
		t.Errorf("beyond what was measured: %v..%v", lo, hi)
	}
}

func TestMarkersOfChangesAndNotes(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("ratio 0.75")
	s.fake.advance(2_000)
	s.typeLine("note drifting")
	s.fake.advance(6_000)
	s.press("tab", "K", "K")
	s.contains(t, "▲1 ", "▲a drifting", "#1 r 0.5→0.75 in force at step 24,001")
	s.press("J")
	s.contains(t, "note a, drifting, at step 26,000") // a note is in force nowhere
	s.typeLine("goto a")
	s.contains(t, "note a, drifting, at step 26,000")
	s.typeLine("goto 1")
	s.contains(t, "#1 r 0.5→0.75 in force at step 24,001")
}

// Where there is no room for panes, what is typed and what is answered stand below the run.
func TestTypingOnATinyScreen(t *testing.T) {
	for _, h := range []int{1, 2, 8} {
		s := running(t, 38, h, 24_000)
		s.press("n", "h", "i")
		s.contains(t, "note: hi")
		s.press("enter")
		if h > 1 {
			s.contains(t, "RUN", "noted")
		}
		s.press(" ", "T", "esc")
		s.typeLine("ratio 7")
		if h > 1 {
			s.contains(t, "out of range")
		}
		exact(t, "tiny", s.View(), 38, h)
	}
}

func TestCheckpointKey(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("c")
	s.contains(t, "saved at 24,000: 39 MiB in 0.3 s", "saving at the end of this slice")
}

func TestFilterOfEvents(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("filter refit")
	for _, l := range s.events.Filtered() {
		if l.Kind != "refit" {
			t.Errorf("%q passes", l.Kind)
		}
	}
	s.contains(t, `with "refit"`)
	s.press("esc")
	if s.events.Filter != "" {
		t.Error("esc keeps the filter")
	}
}

func TestHintsVanishOnceUsed(t *testing.T) {
	const (
		knobHint = "change the selected knob, enter applies it"
		helpHint = "what every key does and every number means"
		quitHint = "leave: the run can go on without the screen"
	)
	home := t.TempDir()
	s := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	s.Update(started{lab: s.fake})
	s.contains(t, knobHint, helpHint, quitHint)
	s.press("right", "esc", "?", "esc")
	if strings.Contains(s.View(), knobHint) || strings.Contains(s.View(), helpHint) {
		t.Errorf("used hints are still shown:\n%s", s.View())
	}
	s.contains(t, quitHint)
	again := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	again.Update(started{lab: again.fake})
	if strings.Contains(again.View(), knobHint) {
		t.Error("the next screen shows a hint that was used")
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	s, err := LoadSettings(dir)
	if err != nil || s.Layout != "focus" {
		t.Fatalf("%+v, %v", s, err)
	}
	s.Layout, s.Keys = "full", map[string][]string{"undo": {"u"}}
	if err := SaveSettings(dir, s); err != nil {
		t.Fatal(err)
	}
	if again, err := LoadSettings(dir); err != nil || again.Layout != "full" || again.Keys["undo"][0] != "u" {
		t.Fatalf("%+v, %v", again, err)
	}
	for text, want := range map[string]string{
		"layuot = 'full'\n":             "line 1: there is no setting layuot",
		"theme = 'pink'\n":              `theme is "pink": want one of auto, dark, light`,
		"[keys]\nundo = ['ctrl+a']\n":   "terminals keep",
		"[keys]\nundo = ['?']\n":        "that is help",
		"[keys]\nfly = ['u']\n":         `no command "fly"`,
		"refresh = 1000\n":              "0.2 to 10",
		"glyphs = 'ascii'\nmouse = 3\n": "line 2",
	} {
		if err := os.WriteFile(filepath.Join(dir, settingsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadSettings(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestOtherKeysWorkAndAreInTheHelp(t *testing.T) {
	home := t.TempDir()
	settings := DefaultSettings()
	settings.Keys = map[string][]string{"undo": {"u"}}
	if err := SaveSettings(home, settings); err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	s.press("down", "down", "right", "enter", "u")
	s.contains(t, "(undoes #1)", "u undo")
}

func TestMouseOnlyWhenAskedFor(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	click := tea.MouseMsg{X: 20, Y: 40, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	s.Update(click)
	if s.focus != pane.Knobs {
		t.Error("a click without M moved the focus")
	}
	s.press("M")
	s.Update(click)
	if s.focus != pane.Events {
		t.Errorf("a click on the events focuses %s", string(s.focus))
	}
	s.GoTo(pane.Chart1)
	s.Update(tea.MouseMsg{X: 60, Y: 8, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	if !s.charts.CursorOn || s.charts.Cursor < 12_000 || s.charts.Cursor > 16_000 {
		t.Errorf("a click in the middle of the chart inspects step %d", s.charts.Cursor)
	}
}

// The help defines every quantity of the charts.
func TestQuantitiesAreDefined(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	text := strings.ReplaceAll(strings.ToLower(strings.Join(s.help.Lines(1000), " ")), "−", "-")
	for _, q := range charts.Quantities {
		for _, l := range q.Lines {
			if name := strings.ToLower(l.Label); !strings.Contains(text, name) {
				t.Errorf("%s of %s has no definition", l.Label, q.ID)
			}
		}
	}
}
