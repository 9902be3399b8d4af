package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Hold keeps a run folder locked after its Folder was closed, until the process that
// goes on with it has adopted the lock: between the two nobody else can take it.
type Hold struct {
	dir   string
	file  *os.File // the lock, as another descriptor of the same open file; nil: a lease
	lease *lease
}

// Hold prepares to hand the folder over: closing the Folder gives its lock back no more.
// The Hold has to be closed once another process has adopted the folder, or goes on
// holding it for this one.
func (f *Folder) Hold() (*Hold, error) {
	h := &Hold{dir: f.dir}
	var err error
	switch lock := f.lock.(type) {
	case *lease:
		h.lease = lock
		lock.held.Store(true)
	case interface{ Fd() uintptr }:
		var fd int
		if fd, err = unix.FcntlInt(lock.Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			h.file = os.NewFile(uintptr(fd), f.Path(lockName))
		}
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return nil, fmt.Errorf("hand over run folder %s: %w", f.dir, reason(err))
	}
	return h, nil
}

// File is what the process that goes on inherits and gives to Adopt; nil where the lock
// is a lease.
func (h *Hold) File() *os.File { return h.file }

// Close lets go of the folder. Where another process has adopted it, it stays locked.
func (h *Hold) Close() error {
	if h.lease != nil {
		return h.lease.remove()
	}
	return h.file.Close()
}

// Reopen takes the folder again that nobody has adopted.
func (h *Hold) Reopen() (*Folder, error) {
	if h.lease != nil {
		return Adopt(h.dir, nil, os.Getpid())
	}
	fd, err := unix.FcntlInt(h.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("take run folder %s back: %w", h.dir, err)
	}
	return Adopt(h.dir, os.NewFile(uintptr(fd), h.file.Name()), os.Getpid())
}

// Adopt is Open with the lock of the process from, which has closed its Folder and keeps
// a Hold. lock is the Hold's File, as this process has inherited it; it belongs to the
// Folder from now on.
func Adopt(dir string, lock *os.File, from int) (*Folder, error) {
	return open(dir, func() (io.Closer, error) {
		if lock == nil {
			return adoptLease(dir, from)
		}
		return lock, checkLock(dir, lock)
	})
}

// checkLock makes sure that an inherited file is the lock of the folder, and locked.
func checkLock(dir string, lock *os.File) error {
	is, err := lock.Stat()
	if err != nil {
		return fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	now, err := os.Lstat(filepath.Join(dir, lockName))
	if err != nil {
		return fmt.Errorf("take over run folder %s: its lock: %w", dir, reason(err))
	}
	if !os.SameFile(is, now) {
		return fmt.Errorf("take over run folder %s: its lock has been replaced", dir)
	}
	if err := flock(lock); err != nil {
		return fmt.Errorf("take over run folder %s: lock it: %w", dir, err)
	}
	return nil
}

// adoptLease takes the lease over from a process of this machine that does not renew it
// any more.
func adoptLease(dir string, from int) (io.Closer, error) {
	me := self()
	return takeLeaseFrom(dir, me, func(h holder) bool { return h.PID == from && h.Host == me.Host && h.Boot == me.Boot })
}
