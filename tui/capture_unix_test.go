//go:build unix

package tui

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"pgrlab/tui/pane"
)

// Giving stderr back touches no other file, even after garbage collections: meanwhile, no other
// file may get the number of the terminal's descriptor.
func TestStderrGoesBackToTheTerminal(t *testing.T) {
	var before, after unix.Stat_t
	if err := unix.Fstat(unix.Stderr, &before); err != nil {
		t.Fatal(err)
	}
	c, err := startCapture(Options{About: pane.About{Folder: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
	}
	var journals []*os.File
	for range 16 {
		f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		journals = append(journals, f)
	}
	c.stop()
	for _, f := range journals {
		if _, err := f.WriteString("line\n"); err != nil {
			t.Errorf("a file that was opened meanwhile: %v", err)
		}
	}
	if err := unix.Fstat(unix.Stderr, &after); err != nil || after.Ino != before.Ino || after.Dev != before.Dev {
		t.Errorf("stderr is another file: %v", err)
	}
}

// A run folder may come from someone else: what a screen writes into it goes through no link.
func TestAScreenWritesThroughNoLink(t *testing.T) {
	folder, mine := t.TempDir(), filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(mine, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stderr.log", "screen-panic.txt"} {
		if err := os.Symlink(mine, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := startCapture(Options{About: pane.About{Folder: folder}}); err == nil {
		c.stop()
		t.Error("stderr goes through a link")
	}
	e := &panicError{value: "at the disco", stack: []byte("here")}
	e.keep(folder)
	if text, err := os.ReadFile(e.trace); string(text) != "panic: at the disco\nhere" {
		t.Errorf("the stack is in %q: %q, %v", e.trace, text, err)
	}
	if text, err := os.ReadFile(mine); string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}
