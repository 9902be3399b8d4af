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
	} {
		_, err := rebind(s.keysTable(), c.keys)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.keys, err, c.want)
		}
	}
}
