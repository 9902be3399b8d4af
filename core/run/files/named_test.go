package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What people name is read if it is an ordinary file, or a link to one, or a pipe that is open already;
// nothing waits for a writer or reads without end.
func TestNamedFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", at("zeros")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{at("file"): "", at("link"): "", at("zeros"): "a device", "/dev/zero": "a device", at("pipe"): "a named pipe", dir: "a folder"} {
		text, err := ReadNamed(name, 9)
		if want == "" && (err != nil || !bytes.Equal(text, []byte("text"))) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := ReadNamed(at("file"), 3); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := ReadNamed(at("none"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.WriteString("piped")
	w.Close()
	if text, err := ReadNamed(fmt.Sprintf("/dev/fd/%d", r.Fd()), 9); err != nil || string(text) != "piped" {
		if _, missing := os.Stat("/dev/fd"); missing != nil {
			t.Skip("this system has no /dev/fd")
		}
		t.Errorf("an open pipe: %q, %v", text, err)
	}
}
