package tui

import (
	"io"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Text that does not fit is cut after a clause or a word, never inside a number.
func TestClipEndsAfterAWord(t *testing.T) {
	th := theme.New(theme.NewRenderer(io.Discard, environment{}), theme.Unicode)
	const text = "dynamics error 0.017, asked and achieved F correlate 0.61, 3% of states outside"
	for w, want := range map[int]string{
		200: text, 60: "dynamics error 0.017, asked and achieved F correlate 0.61…",
		58: "dynamics error 0.017, asked and achieved F correlate 0.61…", 57: "dynamics error 0.017, asked and achieved F correlate…",
		22: "dynamics error 0.017…", 20: "dynamics error…", 5: "dyna…",
	} {
		if got := th.Clip(text, w); got != want {
			t.Errorf("%d: %q, want %q", w, got, want)
		}
	}
	for w := 1; w < 90; w++ {
		got := th.Clip(text, w)
		if theme.Width(got) > w {
			t.Errorf("%d: %q is wider", w, got)
		}
		if cut := strings.TrimSuffix(got, "…"); w > 9 && cut != got && !strings.ContainsRune(" ,", rune(text[len(cut)])) {
			t.Errorf("%d: %q ends inside a word", w, got)
		}
	}
}

// No tab is shown partially.
func TestTabBarHasWholeNames(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.toggleZoom()
	for w := 40; w < 120; w++ {
		for _, id := range s.tabIDs() {
			s.focus = id
			names := strings.FieldsFunc(s.tabBar(w), func(r rune) bool { return r == ' ' || r == '▸' || r == '…' })
			for _, n := range names {
				whole := strings.Contains("last losses", n)
				for _, other := range s.tabIDs() {
					whole = whole || n == s.tabName(other)
				}
				if !whole {
					t.Fatalf("%d columns: %q in %q", w, n, s.tabBar(w))
				}
			}
			if theme.Width(s.tabBar(w)) > w {
				t.Fatalf("%d columns: %q is wider", w, s.tabBar(w))
			}
		}
	}
}

// The header shows that a run was touched, at every width from 40 on.
func TestTouchedIsShownAtEveryWidth(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "down", "right", "enter")
	for w := 40; w <= 200; w++ {
		if h := s.headline.line(w); !strings.Contains(h, "TOUCHED ×1") || theme.Width(h) > w {
			t.Errorf("%d columns: %q", w, h)
		}
	}
}

// Where there is room an event is shown in full, and one can scroll to the oldest.
func TestAllOfAnEventIsShownInARoomyPane(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.GoTo(pane.Events)
	s.toggleZoom()
	s.fake.emit("note", event.Noted{Text: strings.Repeat("so it goes ", 20) + "to the end"})
	s.Update(polled{})
	s.contains(t, "to the end")
	for range 200 {
		s.press("down")
	}
	s.contains(t, "start   ")
}
