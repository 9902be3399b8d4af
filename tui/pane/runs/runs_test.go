package runs

import "testing"

// Folders may be written as for a shell.
func TestTypedFolder(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	for text, want := range map[string]string{
		"runs/a": "runs/a", "'my runs/a'": "my runs/a", `"my runs/a"`: "my runs/a", "~/runs/a": "/home/ana/runs/a", "'~/runs/a'": "/home/ana/runs/a",
		"my runs/a": "my runs/a", "'": "'", "it's": "it's", "a~/b": "a~/b",
	} {
		if got := typedFolder(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
