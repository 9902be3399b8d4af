package tui

import (
	"strings"
	"testing"
)

// Two commands that the settings give the same key are refused; they may exchange their keys.
func TestTwoCommandsWithOneKey(t *testing.T) {
	s := running(t, 80, 24, 1)
	for _, c := range []struct {
		keys map[string][]string
		want string
	}{
		{map[string][]string{"undo": {"u"}, "note": {"u"}}, "cannot be u: that is"},
		{map[string][]string{"undo": {"n"}, "note": {"z"}}, ""},
		{map[string][]string{"undo": {"n"}, "note": {}}, ""},
		{map[string][]string{"closer": {"u"}, "axis": {"u"}}, "cannot be u: that is"},
		{map[string][]string{"pause": {"space"}, "undo": {"alt+u", "f9", "ctrl+u", "ö"}}, ""},
		{map[string][]string{"pause": {"ctrl+i"}}, `cannot be "ctrl+i": no key has that name`},
		{map[string][]string{"pause": {"TAB"}}, `cannot be "TAB"`},
		{map[string][]string{"pause": {""}}, `cannot be ""`},
	} {
		_, err := rebind(s.keysTable(), c.keys)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.keys, err, c.want)
		}
	}
}

// space in the settings is the key that the screen calls so.
func TestSpaceIsAKey(t *testing.T) {
	s := running(t, 80, 24, 1)
	table, err := rebind(s.keysTable(), map[string][]string{"pause": {"space"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range table {
		if b.Name == "pause" && (len(b.Keys) != 1 || b.Keys[0] != keyMsg(" ").String()) {
			t.Errorf("pause has the keys %q", b.Keys)
		}
	}
}
