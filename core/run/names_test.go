package run

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oddNames are names of folders that mean something else if a path is taken for a pattern. They all
// match plain.
var (
	plainNames = []string{"a1", "a2", "ab", "a12", "a-"}
	oddNames   = []string{"a[12]", "a*", "a?", "*", "[a]*", "?1", `a\1`, `a\`, "a[", "a]", "{a1,a2}", "a[!x]", "[^x]?", "a[1-9]", "**", "a$1", "a 1", "-a1", "ä?"}
)

// contents returns all files below a folder.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// cluttered makes a run with data that checkpoints refer to, in use and set aside, with data that
// no checkpoint refers to, and with unfinished files.
func cluttered(t *testing.T, dir string) {
	t.Helper()
	f, err := Create(dir, []byte("of = \""+filepath.Base(dir)+"\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for step := range 3 {
		c := sample(step, fmt.Sprint(step))
		p, err := f.WriteData("synthetic", func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "rows %d of %s", step, dir)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.Data = []Data{{"0/synthetic", []Piece{p}}}; step == 2 {
			break // no checkpoint refers to it
		}
		if _, _, err := f.WriteCheckpoint(c); err != nil {
			t.Fatal(err)
		}
	}
	if aside, err := f.SetAside(f.Path(filepath.Join(CheckpointsName, CheckpointName(0, "0")))); err != nil || aside == "" {
		t.Fatal(aside, err)
	}
	for _, in := range []string{".", CheckpointsName, DataName} {
		if err := os.WriteFile(f.Path(filepath.Join(in, "x"+unfinished+"-1")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever a run folder is called, opening and pruning it read and remove only what is in this
// folder.
func TestAFoldersNameIsNoPattern(t *testing.T) {
	root := t.TempDir()
	for _, name := range append(append([]string(nil), plainNames...), oddNames...) {
		cluttered(t, filepath.Join(root, name))
	}
	// A process that read a neighbour's checkpoints would find one that cannot be read, and would
	// then remove no data.
	for _, name := range plainNames {
		path := filepath.Join(root, name, CheckpointsName, "aside-1", CheckpointName(7, "7"))
		if err := os.WriteFile(path, []byte("damaged"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range oddNames {
		want := contents(t, root)
		f, err := Open(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		f.size = 0
		if _, err := f.Rewind(EmptyMark()); err != nil {
			t.Error(err)
		}
		if _, err := f.Prune(f.Path(filepath.Join(CheckpointsName, CheckpointName(9, "9"))), 0); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		data, err := os.ReadDir(filepath.Join(root, name, DataName))
		if err != nil || len(data) != 2 {
			t.Errorf("%s: %d files of data are left, want the two that checkpoints refer to", name, len(data))
		}
		got := contents(t, root)
		for _, all := range []map[string]string{want, got} {
			maps.DeleteFunc(all, func(path, _ string) bool { // what this folder may remove
				in, file := filepath.Split(path)
				return in == filepath.Join(name, DataName)+"/" || file == "x"+unfinished+"-1" && strings.HasPrefix(in, name+"/")
			})
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%s: something else was changed: %d files, want %d", name, len(got), len(want))
		}
	}
}
