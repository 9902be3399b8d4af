package outside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command is allowed with its folder, its arguments and its script as they were; it is so in another
// process of the same person.
func TestAllowed(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "pgrlab"), t.TempDir()
	script := filepath.Join(dir, "my_env.py")
	if err := os.WriteFile(script, []byte("print(1)"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := must(commandOf("env:python3 'my_env.py' --hard", Options{Folder: dir, Args: []string{"a=1"}}))
	has := func(c Command, want bool) {
		t.Helper()
		if got, err := NewAllowed(home).Has(c); got != want || err != nil {
			t.Errorf("%v is allowed: %t, %v", c, got, err)
		}
	}
	has(c, false)
	for range 2 {
		if err := NewAllowed(home).Add(c); err != nil {
			t.Fatal(err)
		}
	}
	has(c, true)
	list, err := os.ReadFile(filepath.Join(home, allowedName))
	if err != nil || strings.Count(string(list), "\n") != 1 {
		t.Errorf("the list is %q, %v", list, err)
	}
	for what, other := range map[string]Command{
		"folder": {c.Argv, t.TempDir(), c.Args}, "arguments": {c.Argv, c.Dir, []string{"a=2"}}, "words": {append(c.Argv[:2:2], "--soft"), c.Dir, c.Args},
	} {
		if got, err := NewAllowed(home).Has(other); got || err != nil {
			t.Errorf("other %s are allowed: %t, %v", what, got, err)
		}
	}
	if err := os.WriteFile(script, []byte("print(2)"), 0o644); err != nil {
		t.Fatal(err)
	}
	has(c, false)

	// Where the list cannot be written a command is allowed in this process, and the error says that it is not kept.
	unwritable := NewAllowed(filepath.Join(script, "below a file"))
	for range 2 {
		if err := unwritable.Add(c); err == nil || !strings.Contains(err.Error(), "the list of allowed commands") {
			t.Errorf("the error is %v", err)
		}
	}
	if got, err := unwritable.Has(c); !got || err != nil {
		t.Errorf("what was typed is allowed: %t, %v", got, err)
	}

	only := NewAllowed("")
	if err := only.Add(c); err != nil {
		t.Fatal(err)
	}
	if got, err := only.Has(c); !got || err != nil {
		t.Errorf("without a folder: %t, %v", got, err)
	}
	p, err := Open("env:nothing", Options{}, "test", func(c Command) error { return os.ErrPermission })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Meet(); err != os.ErrPermission {
		t.Errorf("a command that is not allowed: %v", err)
	}
}

// A command is taken apart at spaces and quotes, as it is written again; nothing else has a meaning.
func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 my_env.py":            {"python3", "my_env.py"},
		" a  'b c' \"d 'e\"f \t''":     {"a", "b c", "d 'ef", ""},
		"sh -c 'rm $HOME; `id` > x'":   {"sh", "-c", "rm $HOME; `id` > x"},
		"ssh box python3 a\\ b ~ $x *": {"ssh", "box", "python3", "a\\", "b", "~", "$x", "*"},
	} {
		got, err := split(text)
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
		again, err := split(Command{Argv: got}.String())
		if err != nil || strings.Join(again, "|") != strings.Join(want, "|") {
			t.Errorf("%q, written again, is %q, %v", text, again, err)
		}
	}
	for _, text := range []string{"", "  ", "a 'b", `"`} {
		if got, err := split(text); err == nil {
			t.Errorf("%q is %q", text, got)
		}
	}
}
