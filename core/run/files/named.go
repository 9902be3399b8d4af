package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// OpenNamed opens for reading what a person names: an ordinary file, also by a link, or a pipe that the
// shell has opened for this process, as /dev/stdin or <(…). Devices, folders and other pipes, from
// which nothing or no end may ever come, are refused.
func OpenNamed(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !named(path, info) { // opening a device may do something
		return nil, unnamed(path, info)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // in case that a pipe was put there since
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !named(path, info) {
		err = unnamed(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func unnamed(path string, info fs.FileInfo) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("that is %s: want an ordinary file", kindOf(info.Mode()))}
}

// named says whether a person may name it.
func named(path string, info fs.FileInfo) bool {
	path = filepath.Clean(path)
	opened := path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
	return info.Mode().IsRegular() || opened && info.Mode()&fs.ModeNamedPipe != 0
}

// ReadNamed reads such a file if it has at most limit bytes.
func ReadNamed(path string, limit int64) ([]byte, error) {
	f, err := OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return (&File{File: f}).ReadAll(filepath.Base(path), limit)
}
