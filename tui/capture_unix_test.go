//go:build unix

package tui

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Giving stderr back touches no other file, even after garbage collections: meanwhile, no other
// file may get the number of the terminal's descriptor.
func TestStderrGoesBackToTheTerminal(t *testing.T) {
	var before, after unix.Stat_t
	if err := unix.Fstat(unix.Stderr, &before); err != nil {
		t.Fatal(err)
	}
	c, err := startCapture(filepath.Join(t.TempDir(), "stderr.log"))
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
