package run

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"pgrlab/core/run/files"
)

// Hold keeps a run folder locked after its Folder was closed, until the process that
// goes on with it has adopted the lock: between the two nobody else can take it.
type Hold struct {
	dir   string
	by    locker
	file  *os.File // the lock, as another descriptor of the same open file; nil: a lease
	lease *lease
}

// Hold prepares to hand the folder over: closing the Folder gives its lock back no more.
// The Hold has to be closed once another process has adopted the folder, or goes on
// holding it for this one.
func (f *Folder) Hold() (*Hold, error) {
	h := &Hold{dir: f.dir, by: f.by}
	var err error
	switch lock := f.lock.(type) {
	case *lease:
		h.lease = lock
		lock.kept.Store(true)
	case *flocked:
		h.file, err = again(lock.File)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return nil, fmt.Errorf("hand over run folder %s: %w", f.dir, reason(err))
	}
	return h, nil
}

// again is another descriptor of an open file.
func again(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}

// File is what the process that goes on inherits and gives to Adopt; nil where the lock
// is a lease.
func (h *Hold) File() *os.File { return h.file }

// Close lets go of the folder. It stays locked where another process has adopted it, and
// where its Folder was not closed or has been reopened.
func (h *Hold) Close() error {
	if h.lease != nil {
		if h.lease.kept.Store(false); !h.lease.left.Load() {
			return nil
		}
		return h.lease.giveBack()
	}
	return h.file.Close()
}

// Reopen takes the folder again that nobody has adopted.
func (h *Hold) Reopen() (*Folder, error) {
	if h.lease != nil {
		return h.by.adoptFolder(h.dir, nil, os.Getpid())
	}
	lock, err := again(h.file)
	if err != nil {
		return nil, fmt.Errorf("take run folder %s back: %w", h.dir, err)
	}
	return h.by.adoptFolder(h.dir, lock, os.Getpid())
}

// Adopt is Open with the lock of the process from, which has closed its Folder and keeps
// a Hold. lock is the Hold's File, as this process has inherited it; it belongs to the
// Folder from now on.
func Adopt(dir string, lock *os.File, from int) (*Folder, error) {
	return thisProcess().adoptFolder(dir, lock, from)
}

func (k locker) adoptFolder(dir string, lock *os.File, from int) (*Folder, error) {
	return k.openWith(dir, func() (hold, error) {
		if lock == nil {
			return k.adopt(dir, from)
		}
		return &flocked{File: lock}, k.checkLock(dir, lock)
	})
}

// checkLock makes sure that an inherited file is the lock of the folder, and locked.
func (k locker) checkLock(dir string, lock *os.File) error {
	is, err := lock.Stat()
	if err != nil {
		return fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	now, err := files.Lstat(dir, lockName)
	if err != nil {
		return fmt.Errorf("take over run folder %s: its lock: %w", dir, reason(err))
	}
	if !os.SameFile(is, now) {
		return fmt.Errorf("take over run folder %s: its lock has been replaced", dir)
	}
	if err := k.flock(lock); err != nil {
		return fmt.Errorf("take over run folder %s: lock it: %w", dir, err)
	}
	return nil
}
