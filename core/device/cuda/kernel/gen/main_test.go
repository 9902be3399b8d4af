package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	by      = regexp.MustCompile(`, by clang (.*)\. Code`)
	folders = struct{ cu, ptx string }{"../cu", "../ptx"}
)

// The head of each committed file matches its present source, and there are no other files: go
// generate was run after the last change of a source.
func TestPTXIsFresh(t *testing.T) {
	units, err := unitsOf(folders.cu)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := filepath.Glob(filepath.Join(folders.ptx, "*.ptx"))
	if err != nil || len(committed) != len(units) {
		t.Errorf("%d files are committed, %d are generated (%v): run go generate, remove what is stale", len(committed), len(units), err)
	}
	for _, u := range units {
		text, err := os.ReadFile(filepath.Join(folders.ptx, u.name))
		if err != nil {
			t.Error(err)
			continue
		}
		got, _, _ := bytes.Cut(text, []byte("\n"))
		version := by.FindSubmatch(got)
		if version == nil {
			t.Errorf("%s begins with %q", u.name, got)
			continue
		}
		if want, err := u.head(string(version[1])); err != nil || string(got)+"\n" != want {
			t.Errorf("%s begins with %q, its source gives %q (%v): run go generate", u.name, got, want, err)
		}
	}
}

// The committed PTX is what the sources compile to, byte for byte: always for the small files, with
// PGRLAB_SOAK=1 for all.
func TestPTXIsWhatTheSourcesGive(t *testing.T) {
	version, err := versionOf("clang-19")
	if err != nil {
		t.Skip("clang-19 is not installed: the committed PTX is not compared with its sources")
	}
	units, err := unitsOf(folders.cu)
	if err != nil {
		t.Fatal(err)
	}
	fresh := t.TempDir()
	for _, u := range units {
		want, err := os.ReadFile(filepath.Join(folders.ptx, u.name))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 1<<16 && os.Getenv("PGRLAB_SOAK") == "" {
			continue
		}
		if head, err := u.head(version); err != nil || !bytes.HasPrefix(want, []byte(head)) {
			t.Logf("%s is from other sources or another compiler than clang %s: not compared (%v)", u.name, version, err)
			continue
		}
		if err := u.compile("clang-19", version, fresh); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(fresh, u.name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source gives: run go generate (%v)", u.name, err)
		}
	}
}
