package tui

import (
	"io"
	"strings"
	"testing"

	"pgrlab/core/event"
)

// Text that does not fit ends behind a clause or a word, never inside a number.
func TestClipEndsBehindAWord(t *testing.T) {
	th := newTheme(newRenderer(io.Discard, environment{}), Unicode)
	const text = "dynamics error 0.017, asked and achieved F correlate 0.61, 3% of states outside"
	for w, want := range map[int]string{
		200: text, 60: "dynamics error 0.017, asked and achieved F correlate 0.61…",
		58: "dynamics error 0.017, asked and achieved F correlate 0.61…", 57: "dynamics error 0.017, asked and achieved F correlate…",
		22: "dynamics error 0.017…", 20: "dynamics error…", 5: "dyna…",
	} {
		if got := th.clip(text, w); got != want {
			t.Errorf("%d: %q, want %q", w, got, want)
		}
	}
	for w := 1; w < 90; w++ {
		got := th.clip(text, w)
		if width(got) > w {
			t.Errorf("%d: %q is wider", w, got)
		}
		if cut := strings.TrimSuffix(got, "…"); w > 9 && cut != got && !strings.ContainsRune(" ,", rune(text[len(cut)])) {
			t.Errorf("%d: %q ends inside a word", w, got)
		}
	}
}

// No tab is shown in part.
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
			if width(s.tabBar(w)) > w {
				t.Fatalf("%d columns: %q is wider", w, s.tabBar(w))
			}
		}
	}
}

// Hands that were in a run show in the header of any width from 40 on.
func TestTouchedIsShownAtEveryWidth(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.press("down", "down", "right", "enter")
	for w := 40; w <= 200; w++ {
		if h := s.headline.line(w); !strings.Contains(h, "TOUCHED ×1") || width(h) > w {
			t.Errorf("%d columns: %q", w, h)
		}
	}
}

// Where there is room an event shows whole, and one can scroll to the oldest.
func TestAllOfAnEventIsShownInARoomyPane(t *testing.T) {
	s := running(t, 80, 24, 24_000)
	s.goTo(paneEvents)
	s.toggleZoom()
	s.fake.emit("note", event.Noted{Text: strings.Repeat("so it goes ", 20) + "to the end"})
	s.Update(polled{})
	s.contains(t, "to the end")
	for range 200 {
		s.press("down")
	}
	s.contains(t, "start   ")
}

// As many maps as can be read, in shapes near to that of their cells.
func TestMapGrid(t *testing.T) {
	for size, want := range map[[2]int][2]int{{158, 41}: {2, 2}, {80, 20}: {2, 2}, {62, 12}: {2, 1}, {58, 11}: {1, 1}, {40, 6}: {1, 1}, {200, 12}: {4, 1}, {120, 36}: {2, 2}} {
		if across, down := mapGrid(size[0], size[1]); [2]int{across, down} != want {
			t.Errorf("%v: %d by %d, want %v", size, across, down, want)
		}
	}
}
