package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// Irregular is the error for something other than a regular file or folder in a run folder.
type Irregular struct {
	Name string
	Mode fs.FileMode
}

func (e *Irregular) Error() string {
	what := "a device"
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case e.Mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case e.Mode&fs.ModeSocket != 0:
		what = "a socket"
	case e.Mode.IsDir():
		what = "a folder"
	}
	return fmt.Sprintf("%s is %s, not a file of the run", e.Name, what)
}

// ErrTooLarge: a file has more bytes than it may.
var ErrTooLarge = errors.New("it is too large")

// File is an open regular file.
type File struct {
	*os.File // for reading; the methods below change the file
	id       uint64
}

var lastID atomic.Uint64

// Open opens a file for reading. name is relative to dir.
func Open(dir, name string) (*File, error) { return OpenFile(dir, name, os.O_RDONLY) }

// OpenFile opens a file like os.OpenFile. With os.O_CREATE, a new file gets the permissions
// that the umask leaves.
func OpenFile(dir, name string, flag int) (*File, error) {
	var out *File
	err := within(dir, name, func(r *os.Root) error {
		for {
			f, err := open(r, dir, name, flag)
			if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
				continue // another process has just made it
			}
			out = f
			return err
		}
	})
	return out, err
}

func open(r *os.Root, dir, name string, flag int) (*File, error) {
	info, err := r.Lstat(name)
	create := errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0
	switch {
	case create:
		flag |= os.O_EXCL // so that a link put there meanwhile is not followed
	case err != nil:
		return nil, err
	case flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case !info.Mode().IsRegular():
		return nil, &Irregular{name, info.Mode()}
	}
	id := lastID.Add(1)
	kind := Opened
	if create {
		kind = Created
	}
	if create || flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		if err := announce(Op{Kind: kind, Path: filepath.Join(dir, name), File: id}); err != nil {
			return nil, err
		}
	}
	// O_NONBLOCK guards against a named pipe that was put there since.
	f, err := r.OpenFile(name, flag|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &Irregular{name, info.Mode()}
	}
	if err == nil && flag&os.O_APPEND != 0 {
		_, err = f.Seek(0, io.SeekEnd) // so that the reported position is right
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f, id}, nil
}

// Write writes at the file's current position.
func (f *File) Write(b []byte) (int, error) {
	if watched() {
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, err
		}
		if err := announce(Op{Kind: Wrote, Path: f.Name(), File: f.id, Offset: at, Data: b}); err != nil {
			var torn Torn
			if errors.As(err, &torn) {
				n, _ := f.File.Write(b[:min(len(b), int(torn))])
				return n, err
			}
			return 0, err
		}
	}
	return f.File.Write(b)
}

// WriteAt writes at the offset at.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	if err := announce(Op{Kind: Wrote, Path: f.Name(), File: f.id, Offset: at, Data: b}); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

// Truncate makes size the end of the file.
func (f *File) Truncate(size int64) error {
	if err := announce(Op{Kind: Truncated, Path: f.Name(), File: f.id, Offset: size}); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Sync puts the content on the disk.
func (f *File) Sync() error {
	if err := announce(Op{Kind: Synced, Path: f.Name(), File: f.id}); err != nil {
		return err
	}
	return f.File.Sync()
}

// ReadFrom hides the method of os.File, which would bypass Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{f}, r)
}

// ReadFile reads a file of at most limit bytes.
func ReadFile(dir, name string, limit int64) ([]byte, error) {
	f, err := Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll(name, limit)
}

// ReadAll reads the rest of a file if that is at most limit bytes.
func (f *File) ReadAll(name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: %w: more than %d bytes", name, ErrTooLarge, limit)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Lstat describes the entry of that name; links are not followed.
func Lstat(dir, name string) (info fs.FileInfo, err error) {
	err = within(dir, name, func(r *os.Root) error {
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
func ReadDir(dir, name string) (entries []fs.DirEntry, err error) {
	err = folder(dir, name, func(f *os.File) error {
		entries, err = f.ReadDir(-1)
		return err
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Mkdir makes a folder if there is none, and puts its name on the disk.
func Mkdir(dir, name string) error {
	info, err := Lstat(dir, name)
	if err == nil {
		if !info.IsDir() {
			return noFolder(name, info)
		}
		return nil
	}
	if err := MkdirNew(dir, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(dir, filepath.Dir(name))
}

// MkdirNew makes a folder. If the name is taken, the error is fs.ErrExist.
func MkdirNew(dir, name string) error {
	return within(dir, name, func(r *os.Root) error {
		if _, err := r.Lstat(name); err == nil {
			return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
		}
		if err := announce(Op{Kind: MadeDir, Path: filepath.Join(dir, name)}); err != nil {
			return err
		}
		return r.Mkdir(name, 0o777)
	})
}

// Rename renames a file below dir and replaces a file that has the new name.
func Rename(dir, from, to string) error {
	return within(dir, from, func(r *os.Root) error {
		if err := parents(r, to); err != nil {
			return err
		}
		if err := announce(Op{Kind: Renamed, Path: filepath.Join(dir, from), To: filepath.Join(dir, to)}); err != nil {
			return err
		}
		return r.Rename(from, to)
	})
}

// Remove removes a file or an empty folder.
func Remove(dir, name string) error {
	return within(dir, name, func(r *os.Root) error {
		if _, err := r.Lstat(name); err != nil {
			return err
		}
		if err := announce(Op{Kind: Removed, Path: filepath.Join(dir, name)}); err != nil {
			return err
		}
		return r.Remove(name)
	})
}

// Link gives a file of one folder another name in the same or another folder. If that name
// is taken, the error is fs.ErrExist.
func Link(fromDir, from, dir, to string) error {
	if info, err := Lstat(fromDir, from); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return &Irregular{from, info.Mode()}
	}
	return within(dir, to, func(r *os.Root) error {
		source, target := filepath.Join(fromDir, from), filepath.Join(dir, to)
		if _, err := r.Lstat(to); err == nil {
			return &os.LinkError{Op: "link", Old: source, New: target, Err: fs.ErrExist}
		}
		if err := announce(Op{Kind: Linked, Path: source, To: target}); err != nil {
			return err
		}
		return os.Link(source, target)
	})
}

// Sync puts the names in a folder on the disk. It ignores the errors of file systems that
// cannot do this: there is no safer way for them.
func Sync(dir, name string) error {
	return folder(dir, name, func(f *os.File) error {
		if err := announce(Op{Kind: SyncedDir, Path: filepath.Join(dir, name)}); err != nil {
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

// within calls do with dir opened as a root, if all parents of name below dir are real
// folders.
func within(dir, name string, do func(r *os.Root) error) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir) // OpenRoot would wait for a named pipe
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	err = parents(r, name)
	if err == nil {
		err = do(r)
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

// parents returns an error if a parent of name below the root is not a real folder.
func parents(r *os.Root, name string) error {
	for i, c := range name {
		if c != filepath.Separator {
			continue
		}
		info, err := r.Lstat(name[:i])
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
func folder(dir, name string, do func(f *os.File) error) error {
	return within(dir, name, func(r *os.Root) error {
		info, err := r.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return noFolder(name, info)
		}
		f, err := r.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(f)
	})
}
