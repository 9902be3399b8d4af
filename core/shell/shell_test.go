package shell

import (
	"os/exec"
	"testing"
)

// Names of ordinary folders stay as they are; others are quoted.
func TestWord(t *testing.T) {
	for s, want := range map[string]string{
		"runs/2026-03-04-cheetah-run-sac-s3": "runs/2026-03-04-cheetah-run-sac-s3", "./runs/a@20000": "./runs/a@20000", "/läufe/1": "/läufe/1",
		"my runs/first run": "'my runs/first run'", "it's": `'it'\''s'`, "~/x": "'~/x'", "$HOME": "'$HOME'", "a&b": "'a&b'", "a=b": "'a=b'", "": "''", "-dash": "./-dash", "-d sh": "'./-d sh'",
	} {
		if got := Word(s); got != want {
			t.Errorf("%s is written %s, want %s", s, got, want)
		}
	}
}

// A shell reads each word back as it was.
func TestAShellReadsWordsBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, s := range []string{"runs/a@20000", "my runs/first run", "it's \"so\"", "a\\b", "$(id)`id`*?[a]{b,c}!#~", "new\nline", "ü 1", ""} {
		got, err := exec.Command(sh, "-c", "printf %s "+Word(s)).Output()
		if string(got) != s || err != nil {
			t.Errorf("%q is read as %q, %v", s, got, err)
		}
	}
}
