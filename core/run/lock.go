package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"pgrlab/core/run/files"
	"pgrlab/core/shell"
)

// hold keeps other processes out of a run folder until it is closed.
type hold interface {
	io.Closer
	// held returns nil if it still does, and ErrLost if another process writes there now.
	held() error
	// took says whose hold it replaced, and why; "" if there was none.
	took() string
}

// ErrLost: another process has taken the run folder over.
var ErrLost = errors.New("another pgrlab writes there now")

// ErrGone: the run folder was removed while this process held it. What is open of it can still
// be written, and is lost with the process.
var ErrGone = errors.New("the run folder was removed, or moved to another disk")

// errInUse: another process holds the run folder.
var errInUse = errors.New("in use")

// IsInUse says whether an error means that another process holds the run folder.
func IsInUse(err error) bool { return errors.Is(err, errInUse) }

// inUse says what holds a folder.
type inUse struct{ dir, by string }

func (e *inUse) Error() string        { return fmt.Sprintf("run folder %s is in use by %s", e.dir, e.by) }
func (e *inUse) Is(target error) bool { return target == errInUse }

// elsewhere is the advice for a user who begins a run in a folder that is taken.
const elsewhere = ": choose another one with --out"

// beginning returns the error for a new run whose folder could not be taken.
func beginning(err error) error { return fmt.Errorf("%w"+elsewhere, err) }

// goingOn returns the error for a resumed run whose folder could not be taken.
func goingOn(err error, dir string) error {
	switch {
	case errors.Is(err, errInUse):
		return fmt.Errorf("%w: pgrlab attach %s shows it", err, shell.Word(dir))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: go on with a copy of it: cp -r %s COPY, then --resume COPY", err, shell.Word(dir))
	}
	return err
}

// locker takes folders for a process.
type locker struct {
	flock func(*os.File) error
	look  func(*os.File) error // whether flock would fail
	me    holder
	alive func(holder) bool // for holders on this machine
	clock clock
}

// thisProcess returns a locker that takes folders for this process.
func thisProcess() locker {
	return locker{
		flock: func(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) },
		look:  lookFlock,
		me:    holder{Process: Self()}, alive: alive, clock: systemClock(),
	}
}

// take locks a folder. The lock ends with the process, however that ends. If the file
// system does not support locks, the result is a lease.
func (k locker) take(root *files.Root) (hold, error) {
	dir := root.Name()
	for {
		lock, err := root.OpenFile(lockName, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
		}
		err = TakeLock(func() error { return k.flock(lock.File) }, k.clock.sleep)
		switch {
		case err == nil:
			if !stillThere(lock, root) { // removed, with its run, since it was opened
				lock.Close()
				continue
			}
			said, err := k.settle(root)
			if err != nil {
				lock.Close()
				return nil, err
			}
			return &flocked{lock.File, said}, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			lock.Close()
			return nil, &inUse{dir, "another pgrlab"}
		case HasNoLocks(err):
			lock.Close()
			return k.lease(root)
		}
		lock.Close()
		return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
	}
}

// stillThere says whether an open file still has its name.
func stillThere(f *files.File, root *files.Root) bool {
	now, err := root.Lstat(filepath.Base(f.Name()))
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(now, opened)
}

// flocked is a lock of the file system.
type flocked struct {
	*os.File
	said string
}

func (*flocked) held() error    { return nil }
func (f *flocked) took() string { return f.said }
