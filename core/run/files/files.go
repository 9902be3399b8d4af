package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

// Irregular is the error for something other than a regular file or folder in a run folder.
type Irregular struct {
	Name string
	Mode fs.FileMode
}

func (e *Irregular) Error() string {
	return fmt.Sprintf("%s is %s, not a file of the run", e.Name, kindOf(e.Mode))
}

// kindOf is the word for what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode.IsDir():
		return "a folder"
	}
	return "a device"
}

// ErrTooLarge: a file has more bytes than it may.
var ErrTooLarge = errors.New("it is too large")

// File is an open regular file.
type File struct {
	*os.File // for reading; the methods below change the file
	id       uint64
}

var lastID atomic.Uint64

// Open opens a file for reading.
func (r *Root) Open(name string) (*File, error) { return r.OpenFile(name, os.O_RDONLY) }

// OpenFile opens a file like os.OpenFile. With os.O_CREATE, a new file gets the permissions
// that the umask leaves.
func (r *Root) OpenFile(name string, flag int) (*File, error) {
	var out *File
	err := r.within(name, func() error {
		for {
			f, err := r.open(name, flag)
			if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
				continue // another process has just made it
			}
			out = f
			return err
		}
	})
	return out, err
}

func (r *Root) open(name string, flag int) (*File, error) {
	info, err := r.root.Lstat(name)
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
		if err := announce(Op{Kind: kind, Path: r.join(name), File: id}); err != nil {
			return nil, err
		}
	}
	// O_NONBLOCK guards against a named pipe that was put there since.
	f, err := r.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o666)
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
