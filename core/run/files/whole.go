package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeFolder makes a folder with its parents, and puts their names on the disk.
func MakeFolder(dir string) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := MakeFolder(above); err != nil {
			return err
		}
	}
	if err := announce(Op{Kind: MadeDir, Path: dir}); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncAbove(above)
}

// syncAbove is Sync for a folder that this user may not be allowed to open.
func syncAbove(dir string) error {
	if err := Sync(dir); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Move gives the folder another name, which may be that of an empty folder, and puts the name
// on the disk. The folder has to be where its Name says.
func (r *Root) Move(to string) error {
	from := r.Name()
	if err := announce(Op{Kind: Renamed, Path: from, To: filepath.Clean(to)}); err != nil {
		return err
	}
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	r.name.Store(&to)
	return syncAbove(filepath.Dir(filepath.Clean(to)))
}

// RemoveFolder removes an empty folder.
func RemoveFolder(dir string) error {
	if err := announce(Op{Kind: Removed, Path: filepath.Clean(dir)}); err != nil {
		return err
	}
	return syscall.Rmdir(dir)
}
