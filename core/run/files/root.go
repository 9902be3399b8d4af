package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Root is an open folder. It stays the same folder when that gets another name, and when
// something else gets its name.
type Root struct {
	root *os.Root
	is   fs.FileInfo
	name atomic.Pointer[string]
}

// OpenRoot opens a folder, which may be reached through links.
func OpenRoot(dir string) (*Root, error) {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir) // os.OpenRoot would wait for a named pipe
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return newRoot(r, dir)
}

func newRoot(root *os.Root, name string) (*Root, error) {
	is, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	r := &Root{root: root, is: is}
	r.name.Store(&name)
	return r, nil
}

// Again opens the same folder once more.
func (r *Root) Again() (*Root, error) {
	again, err := r.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return newRoot(again, r.Name())
}

// Sub opens a folder below this one.
func (r *Root) Sub(name string) (sub *Root, err error) {
	err = r.within(name, func() error {
		info, err := r.root.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return noFolder(name, info)
		}
		opened, err := r.root.OpenRoot(name)
		if err != nil {
			return err
		}
		sub, err = newRoot(opened, filepath.Join(r.Path(), name))
		return err
	})
	return sub, err
}

// Close closes the folder. Its Name is from then on the last path that it is known to have had.
func (r *Root) Close() error {
	last := r.Path()
	r.name.Store(&last)
	return r.root.Close()
}

// Name is the path that the folder was opened with, or the one that Move gave it.
func (r *Root) Name() string { return *r.name.Load() }

// Path is a path of the folder now: its Name as long as that leads to it. If no other path is
// known it is the Name too.
func (r *Root) Path() string {
	name := r.Name()
	if r.leads(name) {
		return name
	}
	f, err := r.root.Open(".")
	if err != nil {
		return name
	}
	defer f.Close()
	now, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) // on Linux
	if err != nil || !r.leads(now) {
		return name
	}
	return now
}

// Stands says whether the folder still has its Name.
func (r *Root) Stands() bool { return r.leads(r.Name()) }

// Moved says whether something else, or nothing, has the folder's Name. While that cannot be seen,
// as on a network disk that does not answer, the folder counts as being there.
func (r *Root) Moved() bool {
	info, err := os.Stat(r.Name())
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, r.is)
}

// leads says whether a path leads to the folder.
func (r *Root) leads(path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, r.is)
}

// join is the path of a file of the folder, for messages.
func (r *Root) join(name string) string { return filepath.Join(r.Name(), name) }

// ReadFile reads a file of at most limit bytes.
func (r *Root) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll(name, limit)
}

// Lstat describes the entry of that name; links are not followed.
func (r *Root) Lstat(name string) (info fs.FileInfo, err error) {
	err = r.within(name, func() error {
		info, err = r.root.Lstat(name)
		return err
	})
	return info, err
}

// Regular says whether name exists and is a regular file.
func (r *Root) Regular(name string) bool {
	info, err := r.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// ReadDir lists a folder, sorted by name.
func (r *Root) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = r.folder(name, func(f *os.File) error {
		entries, err = f.ReadDir(-1)
		return err
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Mkdir makes a folder if there is none, and puts its name on the disk.
func (r *Root) Mkdir(name string) error {
	info, err := r.Lstat(name)
	if err == nil {
		if !info.IsDir() {
			return noFolder(name, info)
		}
		return nil
	}
	if err := r.MkdirNew(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return r.Sync(filepath.Dir(name))
}

// MkdirNew makes a folder. If the name is taken, the error is fs.ErrExist.
func (r *Root) MkdirNew(name string) error {
	return r.within(name, func() error {
		if _, err := r.root.Lstat(name); err == nil {
			return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
		}
		if err := announce(Op{Kind: MadeDir, Path: r.join(name)}); err != nil {
			return err
		}
		return r.root.Mkdir(name, 0o777)
	})
}

// Rename renames a file and replaces a file that has the new name.
func (r *Root) Rename(from, to string) error {
	return r.within(from, func() error {
		if err := r.parents(to); err != nil {
			return err
		}
		if err := announce(Op{Kind: Renamed, Path: r.join(from), To: r.join(to)}); err != nil {
			return err
		}
		return r.root.Rename(from, to)
	})
}

// Remove removes a file or an empty folder.
func (r *Root) Remove(name string) error {
	return r.within(name, func() error {
		if _, err := r.root.Lstat(name); err != nil {
			return err
		}
		if err := announce(Op{Kind: Removed, Path: r.join(name)}); err != nil {
			return err
		}
		return r.root.Remove(name)
	})
}

// Link gives a file of one folder another name in the same or another folder. If that name
// is taken, the error is fs.ErrExist.
func Link(from *Root, old string, to *Root, name string) error {
	if info, err := from.Lstat(old); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return &Irregular{old, info.Mode()}
	}
	return from.folder(filepath.Dir(old), func(source *os.File) error {
		return to.folder(filepath.Dir(name), func(target *os.File) error {
			failed := func(err error) error {
				return &os.LinkError{Op: "link", Old: from.join(old), New: to.join(name), Err: err}
			}
			if _, err := to.root.Lstat(name); err == nil {
				return failed(fs.ErrExist)
			}
			if err := announce(Op{Kind: Linked, Path: from.join(old), To: to.join(name)}); err != nil {
				return err
			}
			if err := unix.Linkat(int(source.Fd()), filepath.Base(old), int(target.Fd()), filepath.Base(name), 0); err != nil {
				return failed(err)
			}
			return nil
		})
	})
}

// Sync puts the names in a folder on the disk. It ignores the errors of file systems that
// cannot do this: there is no safer way for them.
func (r *Root) Sync(name string) error {
	return r.folder(name, func(f *os.File) error {
		if err := announce(Op{Kind: SyncedDir, Path: r.join(name)}); err != nil {
			return err
		}
		return forgiven(f.Sync())
	})
}

func forgiven(err error) error {
	for _, cannot := range []error{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.EBADF, fs.ErrPermission} {
		if errors.Is(err, cannot) {
			return nil
		}
	}
	return err
}

// within calls do if all parents of name are real folders.
func (r *Root) within(name string, do func() error) error {
	err := r.parents(name)
	if err == nil {
		err = do()
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		path.Op = strings.TrimSuffix(path.Op, "at") // openat, statat: people know open and stat
	}
	return err
}

// noFolder returns the error for something else where a folder should be.
func noFolder(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return &Irregular{name, info.Mode()}
}

// parents returns an error if a parent of name is not a real folder.
func (r *Root) parents(name string) error {
	for i, c := range name {
		if c != filepath.Separator {
			continue
		}
		info, err := r.root.Lstat(name[:i])
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return noFolder(name[:i], info)
		}
	}
	return nil
}

// folder calls do with a folder opened.
func (r *Root) folder(name string, do func(f *os.File) error) error {
	return r.within(name, func() error {
		info, err := r.root.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return noFolder(name, info)
		}
		f, err := r.root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(f)
	})
}
