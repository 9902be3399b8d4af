package tui

import (
	"testing"

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
