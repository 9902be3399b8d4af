package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file is either complete or as it was, whatever stands at the place of its temporary file: the
// rest of a killed process, a link, a folder, a pipe, or a file that another process is writing.
// Such a rest is used up; everything else is left untouched.
func TestFilesAreWrittenAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir, temporary string)
		left []string // beside the file
	}{
		{"nothing", func(*testing.T, string, string) {}, nil},
		{"left by a kill", func(t *testing.T, _, temporary string) {
			if err := os.WriteFile(temporary, []byte(strings.Repeat("half ", 1000)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"a link", func(t *testing.T, dir, temporary string) {
			if err := os.WriteFile(filepath.Join(dir, "victim"), []byte("victim"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("victim", temporary); err != nil {
				t.Fatal(err)
			}
		}, []string{".out.new", "victim"}},
		{"a folder", func(t *testing.T, _, temporary string) {
			if err := os.Mkdir(temporary, 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{".out.new"}},
		{"a pipe", func(t *testing.T, _, temporary string) {
			if err := syscall.Mkfifo(temporary, 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{".out.new"}},
		{"another process", func(t *testing.T, _, temporary string) {
			f, err := os.Create(temporary)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
		}, []string{".out.new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			c.make(t, dir, filepath.Join(dir, ".out.new"))
			for _, text := range []string{"first", "again"} {
				if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
					t.Fatal(err)
				}
				if doc, err := os.ReadFile(path); string(doc) != text {
					t.Errorf("%q, %v", doc, err)
				}
			}
			if err := WriteFile(path, func(w io.Writer) error { io.WriteString(w, "half"); return io.ErrShortWrite }); err != io.ErrShortWrite {
				t.Errorf("%v", err)
			}
			if doc, _ := os.ReadFile(path); string(doc) != "again" {
				t.Errorf("after an error: %q", doc)
			}
			if doc, err := os.ReadFile(filepath.Join(dir, "victim")); err == nil && string(doc) != "victim" {
				t.Errorf("the link's target is %q", doc)
			}
			var names []string
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if e.Name() != "out" {
					names = append(names, e.Name())
				}
			}
			if strings.Join(names, " ") != strings.Join(c.left, " ") {
				t.Errorf("%q are left, want %q", names, c.left)
			}
		})
	}
}

// A folder is not a file to write.
func TestAFolderIsNoFile(t *testing.T) {
	err := WriteFile(t.TempDir(), func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "that is a folder") {
		t.Error(err)
	}
}

// A link stays one, and its target is written; what is no file is written into and stays.
func TestLinksAndPipesStay(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	if err := errors.Join(WriteFile(link, write), WriteFile(pipe, write)); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "new" {
		t.Errorf("the pipe's reader got %q", got)
	}
	text, err := os.ReadFile(target)
	at, linked := os.Readlink(link)
	info, there := os.Lstat(pipe)
	if err := errors.Join(err, linked, there); err != nil || string(text) != "new" || at != target || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("%v: target %q, link to %q, pipe %v", err, text, at, info.Mode())
	}
}

// Errors name the file that was asked for, and not the one that is renamed to it.
func TestErrorsNameTheFileThatWasAskedFor(t *testing.T) {
	above := t.TempDir()
	nowhere := filepath.Join(above, "none", "a.txt")
	if err := WriteFile(nowhere, func(io.Writer) error { return nil }); err == nil || err.Error() != "write "+nowhere+": no such file or directory" {
		t.Errorf("%v", err)
	}
	path := filepath.Join(above, "a.txt")
	err := WriteFile(path, func(w io.Writer) error {
		w.(*os.File).Close()
		_, err := w.Write(nil)
		return err
	})
	if err == nil || err.Error() != "write "+path+": file already closed" {
		t.Errorf("%v", err)
	}
}
