package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A resume removes what a killed process had not finished, and no file of people or of a command that is
// writing one into the folder.
func TestAResumeLeavesTheFilesOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := Create(dir, []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.below(DataName), f.Close()); err != nil {
		t.Fatal(err)
	}
	others := []string{".curves.svg.new", "config.new.toml", "notes.new", "notes.new-0123abcd.txt", "plan.new-york"}
	for _, name := range slices.Concat(others, []string{"policy.bin.new-0123abcd", "data/syn.new"}) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if f, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left := slices.DeleteFunc(slices.Concat(f.names("."), f.names(DataName)), func(name string) bool { return !strings.Contains(name, unfinished) })
	if !slices.Equal(left, others) {
		t.Errorf("%q are left, want %q", left, others)
	}
}
