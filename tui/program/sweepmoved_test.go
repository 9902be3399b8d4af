package program

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
)

// While a sweep runs, its folder gets another name, and another sweep begins under the one that it had.
// The first saves its job where that is now, ends with a line that says where, and touches nothing of
// the other. Started again there it goes on, to the same journals.
func TestASweepThatIsMoved(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	grid := []string{"sweep", "--out", "s", "--jobs", "1", "--preset", "tiny.toml", "--steps", "75", "--method", "sac", "--seeds", "1-2"}
	middle := holdAt(t, 1, 60)
	first, said := child(t, grid...)
	first.Env = append(first.Env, middle.setting)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waits := middle.await()
	if err := os.Rename("s", "moved"); err != nil {
		t.Fatal(err)
	}
	if out, err := onCluster(t, grid...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := contents(t, "s")
	waits.release()
	first.Wait()
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	last := lines[len(lines)-1]
	if status := first.ProcessState.ExitCode(); status != cli.StatusFailed || !strings.HasPrefix(last, "pgrlab: sweep s: its folder was moved") || strings.Contains(said.String(), ": failed") {
		t.Errorf("status %d: %s", status, said)
	}
	if after := contents(t, "s"); after != before {
		t.Errorf("the other sweep is\n%s\nwas\n%s", after, before)
	}
	if out, err := onCluster(t, "sweep", "--out", "moved"); err != nil || !strings.Contains(out, "2 of 2 done") {
		t.Errorf("%v: %s", err, out)
	}
	for _, job := range []string{"0000-cartpole-swingup-sac-s1", "0001-cartpole-swingup-sac-s2"} {
		if canonical(t, filepath.Join("moved", job, "run")) != canonical(t, filepath.Join("s", job, "run")) {
			t.Errorf("%s has another journal than in a sweep that stayed where it was", job)
		}
	}
}

// contents are the names of what is below a folder, and the contents of its files.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, unread := os.ReadFile(path)
			path, err = path+": "+string(text), unread
		}
		all.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
