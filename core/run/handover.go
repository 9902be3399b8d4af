package run

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"pgrlab/core/run/files"
)

// Hold keeps a run folder locked after its Folder was closed, until the process that
// continues the run has adopted the lock. No other process can take the folder in between.
type Hold struct {
	root  *files.Root
	by    locker
	file  *os.File // another descriptor of the lock's open file; nil for a lease
	lease *lease
}

// Hold prepares to hand the folder over: closing the Folder no longer gives its lock back.
// The Hold must be closed once another process has adopted the folder; otherwise it goes on
// holding it for this process.
func (f *Folder) Hold() (*Hold, error) {
	root, err := f.root.Again() // the Folder's ends with it
	if err != nil {
		return nil, fmt.Errorf("hand over run folder %s: %w", f.Dir(), reason(err))
	}
	h := &Hold{root: root, by: f.by}
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
		root.Close()
		return nil, fmt.Errorf("hand over run folder %s: %w", f.Dir(), reason(err))
	}
	return h, nil
}

// again returns another descriptor of an open file.
func again(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}

// File is the file that the continuing process inherits and passes to Adopt; nil if the
// lock is a lease.
func (h *Hold) File() *os.File { return h.file }

// Close releases the folder. The folder stays locked if another process has adopted it, or
// if its Folder was not closed or has been reopened.
func (h *Hold) Close() error {
	defer h.root.Close()
	if h.lease != nil {
		if h.lease.kept.Store(false); !h.lease.left.Load() {
			return nil
		}
		return h.lease.giveBack()
	}
	return h.file.Close()
}

// Reopen takes back a folder that no process has adopted, or whose adopter has ended.
func (h *Hold) Reopen() (*Folder, error) {
	root, err := h.root.Again()
	if err != nil {
		return nil, fmt.Errorf("take run folder %s back: %w", h.root.Path(), reason(err))
	}
	if h.lease != nil {
		if h.by.over(root) { // the adopter had its own lease
			return h.by.openWith(root, h.by.take)
		}
		return h.by.adoptFolder(root, nil, os.Getpid())
	}
	lock, err := again(h.file)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("take run folder %s back: %w", h.root.Path(), err)
	}
	return h.by.adoptFolder(root, lock, os.Getpid())
}

// Adopt is Open with the lock of the process with id from, which has closed its Folder and
// keeps a Hold. lock is the Hold's File, as inherited by this process; it belongs to the
// Folder from now on.
func Adopt(dir string, lock *os.File, from int) (*Folder, error) {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	return thisProcess().adoptFolder(root, lock, from)
}

func (k locker) adoptFolder(root *files.Root, lock *os.File, from int) (*Folder, error) {
	return k.openWith(root, func(root *files.Root) (hold, error) {
		if lock == nil {
			return k.adopt(root, from)
		}
		return &flocked{File: lock}, k.checkLock(root, lock)
	})
}

// checkLock makes sure that an inherited file is the lock of the folder and is locked.
func (k locker) checkLock(root *files.Root, lock *os.File) error {
	dir := root.Name()
	is, err := lock.Stat()
	if err != nil {
		return fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	now, err := root.Lstat(lockName)
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
