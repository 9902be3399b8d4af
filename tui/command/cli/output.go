package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pgrlab/core/run"
)

// WriteJSON writes v indented.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteFile writes a file in one step: never a part of it, and nothing after an error. Of a link it
// writes the target; into a device or a pipe it writes as it goes. The files of a run are refused.
func WriteFile(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if run.Owns(path) {
		return ownedByRun(path)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
	case info.IsDir():
		return fmt.Errorf("write %s: that is a folder: name a file", path)
	case !info.Mode().IsRegular():
		return writeInto(path, write)
	}
	f, err := temporary(path)
	if err != nil {
		return named(err, path)
	}
	defer f.Close() // which lets others write there: by then the name belongs to path
	if err = write(f); err == nil {
		err = f.Sync() // a full disk may report it only now
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return named(err, path)
}

// named is an error of the file that path's contents are written into, under the name of path: who asked
// for path does not know of the other one. Other errors it returns as they are.
func named(err error, path string) error {
	ours := func(name string) bool {
		return filepath.Dir(name) == filepath.Dir(path) && strings.HasPrefix(filepath.Base(name), unfinished(path))
	}
	var of *fs.PathError
	var renamed *os.LinkError
	switch {
	case errors.As(err, &of) && ours(of.Path):
		err = of.Err
	case errors.As(err, &renamed) && ours(renamed.Old):
		err = renamed.Err
	default:
		return err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// unfinished begins the name of the file that path's contents are written into.
func unfinished(path string) string { return "." + filepath.Base(path) + ".new" }

// writeInto writes into what is there.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// temporary opens the empty file that path's contents are written into. It has the same name each
// time, so that the next process reuses what a killed one left, unless another process is writing
// it or something else has that name.
func temporary(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_WRONLY
	name := filepath.Join(filepath.Dir(path), unfinished(path))
	if f, err := os.OpenFile(name, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666); err == nil {
		if ours(f, name) && f.Truncate(0) == nil {
			return f, nil
		}
		f.Close()
	}
	return os.OpenFile(fmt.Sprintf("%s-%08x", name, rand.Uint32()), flags|os.O_EXCL, 0o666) // os.CreateTemp ignores the umask
}

// ours says whether an open file is a regular file that still has its name and that no other
// process writes; this stays so until the file is closed.
func ours(f *os.File, name string) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	opened, err := f.Stat()
	there, gone := os.Lstat(name)
	return err == nil && gone == nil && opened.Mode().IsRegular() && os.SameFile(opened, there)
}
