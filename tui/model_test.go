package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/testing/racing"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

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
	if !s.quit || s.leaving.stopRequested || s.lastCommand() != nil {
		t.Errorf("leaving: quit %v, stop %v, sent %#v", s.quit, s.leaving.stopRequested, s.lastCommand())
	}
	s = running(t, 80, 24, 24_000)
	s.press("ctrl+c", "s")
	if _, ok := s.lastCommand().(event.Stop); !s.quit || !s.leaving.stopRequested || !ok {
		t.Errorf("stopping: quit %v, stop %v, sent %#v", s.quit, s.leaving.stopRequested, s.lastCommand())
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
	if !s.quit || !s.leaving.stopRequested {
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

// The help explains every key of the table as the table has it, and nothing else; so does the help
// of the first screen.
func TestHelpHasEverything(t *testing.T) {
	keysOf := func(s *screen, title string) map[string]bool {
		got, inside := map[string]bool{}, false
		for _, l := range s.help.Lines(1000) {
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
	compare := func(s *screen, title string, table []pane.Binding) {
		t.Helper()
		got, want := keysOf(s, title), map[string]bool{}
		for _, b := range table {
			if b.Action == nil {
				t.Errorf("%s does nothing", b.Name)
			}
			if b.Help != "" {
				want[s.Theme.Fit(s.Theme.KeyLabel(b.Title()), 16)+b.Help] = true
			} else if !strings.HasPrefix(b.Name, "digit-") {
				t.Errorf("%s has no help", b.Name)
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
	compare(s, "", append(slices.Clone(s.palette.keys), s.help.Keys()...))
	compare(newPickerScreen(t, 120, 200), "on this screen", newPickerScreen(t, 120, 200).picker.Keys())
	text := strings.Join(s.help.Lines(100), "\n")
	for _, d := range running(t, 80, 24, 1).helpContents().Numbers {
		if !strings.Contains(text, d.Name) {
			t.Errorf("no definition of %s", d.Name)
		}
	}
}

// No key has two meanings in one pane.
func TestKeysAreUnambiguous(t *testing.T) {
	s := running(t, 80, 24, 1)
	for _, pane := range s.paneIDs() {
		seen := map[string]bool{}
		for _, b := range s.keysTable() {
			for _, k := range b.Keys {
				if b.Works(pane) && seen[k] {
					t.Errorf("%q means two things in pane %s", k, string(pane))
				}
				seen[k] = seen[k] || b.Works(pane)
			}
		}
	}
}

func TestFocusVisitsEveryPane(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}, {60, 15}} {
		s := running(t, size[0], size[1], 12_000)
		seen := map[pane.ID]bool{}
		for range s.paneIDs() {
			seen[s.focus] = true
			if s.layout.kind != tabbed && !s.layout.visible(s.focus) {
				t.Errorf("%v: the focus is on pane %s, which is not shown", size, string(s.focus))
			}
			s.press("tab")
		}
		want := 6 // those of the focus view
		if s.layout.kind == tabbed {
			want = len(s.tabIDs())
		}
		if len(seen) != want {
			t.Errorf("%v: the focus visits %d panes, want %d", size, len(seen), want)
		}
	}
}

func TestScrolledEventsStay(t *testing.T) {
	s := running(t, 160, 45, 60_000)
	for s.focus != pane.Events {
		s.press("tab")
	}
	s.press("pgdown", "pgdown")
	first := s.events.Body(90, 5)[0]
	s.fake.advance(3_000)
	s.Update(polled{})
	if again := s.events.Body(90, 5)[0]; again != first {
		t.Errorf("new events moved the scrolled list: %q became %q", first, again)
	}
	s.press("g")
	if latest := s.events.Body(90, 5)[0]; latest == first {
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

// The help begins with the keys of the pane in focus.
func TestHelpBeginsWithThePaneInFocus(t *testing.T) {
	for pane, want := range map[pane.ID]string{pane.Knobs: "stage the next value", pane.Chart2: "smoothing", pane.Events: "newer events", pane.Map: "what the map shows first"} {
		s := running(t, 100, 30, 1000)
		s.GoTo(pane)
		s.press("?")
		s.contains(t, want)
		lines := s.help.Lines(100)
		if !strings.HasPrefix(lines[0], "KEYS in ") || !strings.Contains(lines[0], "the pane in focus") {
			t.Errorf("pane %s: the help begins with %q", string(pane), lines[0])
		}
	}
}

// The keys that work everywhere stand under what they are for.
func TestHelpGroupsKeysByPurpose(t *testing.T) {
	s := running(t, 120, 36, 1000)
	under := map[string]string{}
	title := ""
	for _, l := range s.help.Lines(110) {
		if strings.HasPrefix(l, "KEYS ") {
			title = l
		} else if name := strings.Fields(l + " -")[0]; strings.Contains(title, "everywhere") && under[name] == "" {
			under[name] = title
		}
	}
	for key, purpose := range map[string]string{"z": "change the run", "c": "change the run", "tab": "look", "L": "look", "0": "look", "f": "compare", "w": "compare", "q": "leave", "ctrl+c": "leave"} {
		if want := "KEYS everywhere, to " + purpose; under[key] != want {
			t.Errorf("%s stands under %q, want %q", key, under[key], want)
		}
	}
}

// The search finds every line with the text, in order, wraps round at the end, and goes back again.
func TestHelpIsSearched(t *testing.T) {
	racing.Skip(t)
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		s := running(t, size[0], size[1], 1000)
		s.press("?", "/", "G", "u", "i", "d", "a", "n", "c", "e", "enter")
		found := s.help.FoundLines(s.help.Text())
		if len(found) < 3 {
			t.Fatalf("guidance is in %d lines", len(found))
		}
		first := slices.Index(found, s.help.At)
		if line := s.help.Text()[max(0, s.help.At)]; first < 0 || !strings.HasPrefix(line, "ω guidance") {
			t.Fatalf("the search begins at %q, not at the definition", line)
		}
		for i := range len(found) + 1 {
			if want := found[(first+i)%len(found)]; s.help.At != want {
				t.Fatalf("%v: n leads to line %d, want %d", size, s.help.At, want)
			}
			if !strings.Contains(strings.ToLower(s.View()), "guidance") {
				t.Fatalf("%v: the line is not in sight:\n%s", size, s.View())
			}
			s.press("n")
		}
		s.press("N")
		if s.help.At != found[first] {
			t.Errorf("N leads to line %d, want %d", s.help.At, found[first])
		}
		s.press("/", "q", "q", "q", "enter")
		if size[0] > 40 {
			s.contains(t, `nothing has "qqq" in it`)
		}
		s.press("esc")
		if !s.help.IsOpen() {
			t.Error("esc closes the help with the search")
		}
		s.press("esc")
		if s.help.IsOpen() {
			t.Error("esc does not close the help")
		}
	}
}

// A cohort's chart of speed has what the screen polls, at most once a second.
func TestPolledSpeedOfACohort(t *testing.T) {
	s := newScreen(t, 160, 45, nil)
	begin := time.Unix(1000, 0)
	for member := range 2 {
		s.History.Take(event.Event{Index: member, Wall: begin, Member: member, Body: event.Episode{}})
	}
	for i := range 21 { // four times a second
		s.observe(&event.Snapshot{Time: begin.Add(time.Duration(i) * time.Second / 4), Step: 10 + i, StepsPerSec: 40, Updates: 1})
	}
	if speed := s.History.Main(history.CurveSpeed); speed == nil || len(speed.Samples) != 6 {
		t.Errorf("in five seconds the chart gets %+v, want 6 samples", speed)
	}
}
