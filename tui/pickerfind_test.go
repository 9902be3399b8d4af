package tui

import (
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/testing/racing"
	"pgrlab/tui/picker"
)

// A search takes the answer under the cursor, also if another one begins with its name; a name that
// was typed in full is the first choice.
func TestPickerSearchTakesWhatIsUnderTheCursor(t *testing.T) {
	s := newPickerScreen(t, 80, 24)
	s.picker.Methods = []picker.Item{{Name: "ppo-curiosity"}, {Name: "ppo"}}
	s.picker.Recent = []picker.Recent{{Dir: "runs/x-s1-2"}, {Dir: "runs/x-s10"}, {Dir: "runs/x-s1"}}
	s.press("down", "down", "/", "down", "down", "enter")
	if p := s.picker.Picks(); p.Method != "ppo" {
		t.Errorf("the cursor on ppo takes %q", p.Method)
	}
	s.press("/", "p", "p", "enter")
	if p := s.picker.Picks(); p.Method != "ppo-curiosity" {
		t.Errorf("a part takes %q", p.Method)
	}
	s.press("/", "p", "p", "o", "enter")
	if p := s.picker.Picks(); p.Method != "ppo" {
		t.Errorf("ppo takes %q", p.Method)
	}
	s.picker.Row = picker.PickRecent
	s.press("/", "down", "down", "down", "enter")
	if p := s.picker.Picks(); p.Reopen != "runs/x-s1" {
		t.Errorf("the cursor on x-s1 takes %q", p.Reopen)
	}
}

// A search finds what any row lists, from whichever row it begins in, and goes to that row; what the
// row itself lists comes first, and a number is the answer to a question for one.
func TestPickerSearchesAllThatIsListed(t *testing.T) {
	racing.Skip(t)
	const seed, steps = 5, 6
	for _, c := range []struct {
		from  int
		text  string
		shown string
		to    int
		took  func(p picker.Picks) string
		want  string
	}{
		{2, "hard", "▸ task: reacher-hard", 1, func(p picker.Picks) string { return p.Task }, "reacher-hard"},
		{1, "TD", "▸ method: pgr-td", 2, func(p picker.Picks) string { return p.Method }, "pgr-td"},
		{seed, "hard", "▸ task: reacher-hard", 1, func(p picker.Picks) string { return p.Task }, "reacher-hard"},
		{steps, "short", "▸ scale: short", 4, func(p picker.Picks) string { return p.Scale }, "short"},
		{1, "cpu", "▸ device: cpu", 7, func(p picker.Picks) string { return p.Device }, "cpu"},
		{4, "x-s10", "▸ earlier runs: x-s10", picker.PickRecent, func(p picker.Picks) string { return p.Reopen }, "runs/x-s10"},
		{0, "task: reacher-hard", "▸ task: reacher-hard", 1, func(p picker.Picks) string { return p.Task }, "reacher-hard"},
		{1, "run", "▸ cheetah-run", 1, func(p picker.Picks) string { return p.Task }, "cheetah-run"},
		{seed, "10", "seed: 10", seed, func(p picker.Picks) string { return fmt.Sprint(p.Seed) }, "10"},
	} {
		s := newPickerScreen(t, 100, 40)
		s.picker.Scales = []picker.Item{{Name: "short", Doc: "the evidence"}}
		s.picker.Recent = []picker.Recent{{Dir: "runs/x-s10", What: "sac on cheetah-run"}}
		s.picker.Row = c.from
		s.press("/")
		for _, r := range c.text {
			s.press(string(r))
		}
		if s.contains(t, c.shown); strings.Contains(s.View(), "none has that") {
			t.Errorf("%s, from row %d:\n%s", c.text, c.from, s.View())
		}
		s.press("enter")
		if got := c.took(s.picker.Picks()); got != c.want || s.picker.Row != c.to {
			t.Errorf("%s, from row %d: %q in row %d, want %q in row %d", c.text, c.from, got, s.picker.Row, c.want, c.to)
		}
	}
}
