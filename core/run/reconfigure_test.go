package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Data made under any of the configurations that a run has had belongs to the run, even if the last
// change was interrupted; data made under another configuration does not.
func TestReconfigure(t *testing.T) {
	docs := []string{"steps = 10\n", "steps = 20\n", "steps = 30\n"}
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	f, err := Create(dir, []byte(docs[0]))
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{} // copies of the folder, and the configuration that each has
	for i, doc := range docs {
		if err := f.Reconfigure([]byte(doc)); err != nil {
			t.Fatal(err)
		}
		whole := filepath.Join(root, "whole-"+doc[8:10])
		if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if states[whole] = i; i == 0 {
			continue
		}
		between := filepath.Join(root, "between-"+doc[8:10]) // killed before the second file
		if err := os.CopyFS(between, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(between, ConfigName), []byte(docs[i-1]), 0o644); err != nil {
			t.Fatal(err)
		}
		states[between] = i - 1
	}
	f.Close()
	for dir, has := range states {
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Said()) > 0 || f.Config() != digest([]byte(docs[has])) {
			t.Errorf("%s: %q", filepath.Base(dir), f.Said())
		}
		for i, doc := range docs[:has+1] {
			if !f.Made(digest([]byte(doc))) {
				t.Errorf("%s: what was made under %q is not its own", filepath.Base(dir), docs[i])
			}
			if err := CheckConfig(dir, digest([]byte(doc))); err != nil {
				t.Errorf("%s: read only, what was made under %q: %v", filepath.Base(dir), docs[i], err)
			}
		}
		if f.Made(digest(nil)) || f.Made("") {
			t.Errorf("%s: everything is its own", filepath.Base(dir))
		}
		if err := CheckConfig(dir, digest(nil)); !errors.Is(err, ErrOtherConfig) {
			t.Errorf("%s: read only, everything is its own: %v", filepath.Base(dir), err)
		}
		if err := f.Reconfigure([]byte("steps = 99\n")); err != nil || !f.Made(digest([]byte(docs[0]))) || !f.Made(digest([]byte("steps = 99\n"))) {
			t.Errorf("%s: once more: %v", filepath.Base(dir), err)
		}
		f.Close()
	}
}

// A list of former configurations that this program did not write is reported, and not used.
func TestAForeignListOfConfigurations(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"huge":     func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("a", maxFormer+1)), 0o644) },
	} {
		dir := filepath.Join(t.TempDir(), "run")
		f, err := Create(dir, []byte("steps = 10\n"))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := make(filepath.Join(dir, formerName)); err != nil {
			t.Fatal(err)
		}
		if f, err = Open(dir); err != nil {
			t.Fatal(name, err)
		}
		said := f.Said()
		if len(said) == 0 || !strings.Contains(said[len(said)-1], formerName) || f.Made("aaaa") || !f.Made(f.Config()) {
			t.Errorf("%s: %q", name, said)
		}
		f.Close()
	}
}

// However many checkpoints there are at a run's end, the last one from which a longer run can
// continue is kept.
func TestPruneKeepsTheWayBeyondTheEnd(t *testing.T) {
	for _, limit := range []int64{0, 1} {
		f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, position := range []string{"7", "8", "9/evaluate:0", "9/evaluate:1", "9/evaluate:2", "9/evaluate:3", "9/evaluate:4"} {
			c := sample(9, position)
			if c.Ended = strings.HasPrefix(position, "9/") && position != "9/evaluate:0"; !strings.HasPrefix(position, "9") {
				c.Step = int(position[0] - '0')
			}
			path, _, err := f.WriteCheckpoint(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Prune(path, limit); err != nil {
				t.Fatal(err)
			}
		}
		all, err := Checkpoints(f.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(all, func(c Found) bool { return !c.Ended }); i < 0 || all[i].Position != "9/evaluate:0" || len(all) > lastKept+2 {
			t.Errorf("at most %d bytes: of %d checkpoints, %d is the first that a longer run goes on from", limit, len(all), i)
		}
	}
}
