package files

import (
	"io/fs"
	"os"
)

// The functions below are the methods of Root for a folder that is opened for this alone.

// Open opens a file for reading. name is relative to dir.
func Open(dir, name string) (*File, error) { return OpenFile(dir, name, os.O_RDONLY) }

// OpenFile is Root.OpenFile.
func OpenFile(dir, name string, flag int) (file *File, err error) {
	err = in(dir, func(r *Root) error {
		file, err = r.OpenFile(name, flag)
		return err
	})
	return file, err
}

// ReadFile reads a file of at most limit bytes.
func ReadFile(dir, name string, limit int64) (text []byte, err error) {
	err = in(dir, func(r *Root) error {
		text, err = r.ReadFile(name, limit)
		return err
	})
	return text, err
}

// Lstat is Root.Lstat.
func Lstat(dir, name string) (info fs.FileInfo, err error) {
	err = in(dir, func(r *Root) error {
		info, err = r.Lstat(name)
		return err
	})
	return info, err
}

// Regular says whether name exists and is a regular file.
func Regular(dir, name string) bool {
	info, err := Lstat(dir, name)
	return err == nil && info.Mode().IsRegular()
}

// ReadDir lists a folder, sorted by name.
func ReadDir(dir string) (entries []fs.DirEntry, err error) {
	err = in(dir, func(r *Root) error {
		entries, err = r.ReadDir(".")
		return err
	})
	return entries, err
}

// Remove removes a file or an empty folder.
func Remove(dir, name string) error {
	return in(dir, func(r *Root) error { return r.Remove(name) })
}

// Sync puts the names in a folder on the disk.
func Sync(dir string) error {
	return in(dir, func(r *Root) error { return r.Sync(".") })
}

// in calls do with dir opened.
func in(dir string, do func(r *Root) error) error {
	r, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	return do(r)
}
