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
)

// hold keeps other processes out of a run folder until it is closed.
type hold interface {
	io.Closer
	// held says whether it still does; ErrLost where another process writes there now.
	held() error
	// moved says that the folder has another name now.
	moved(dir string)
	// took says whose hold it replaced, and why; "" where there was none.
	took() string
}

// ErrLost: another process has taken the run folder over.
var ErrLost = errors.New("another pgrlab writes there now")

// errInUse: another process holds the run folder.
var errInUse = errors.New("in use")

// IsInUse says whether an error is that another process holds the run folder.
func IsInUse(err error) bool { return errors.Is(err, errInUse) }

// inUse says who holds a folder.
type inUse struct{ dir, by string }

func (e *inUse) Error() string        { return fmt.Sprintf("run folder %s is in use by %s", e.dir, e.by) }
func (e *inUse) Is(target error) bool { return target == errInUse }

// elsewhere is what somebody can do who wants to begin a run in a folder that is taken.
const elsewhere = ": choose another one with --out"

// beginning is an error of taking the folder of a new run.
func beginning(err error) error { return fmt.Errorf("%w"+elsewhere, err) }

// goingOn is an error of taking the folder of a run that is gone on with.
func goingOn(err error, dir string) error {
	switch {
	case errors.Is(err, errInUse):
		return fmt.Errorf("%w: pgrlab attach %s shows it", err, dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: go on with a copy of it: cp -r %s COPY, then --resume COPY", err, dir)
	}
	return err
}

// locker takes folders for a process.
type locker struct {
	flock func(*os.File) error
	me    holder
	alive func(holder) bool // of this machine
	clock clock
}

// thisProcess takes folders for this process.
func thisProcess() locker {
	return locker{
		flock: func(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) },
		me:    self(), alive: alive, clock: systemClock(),
	}
}

// take locks a folder. The lock goes with the process, however it ends. Where the file
// system knows no locks it is a lease.
func (k locker) take(dir string) (hold, error) {
	for {
		lock, err := files.OpenFile(dir, lockName, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
		}
		err = k.flock(lock.File)
		switch {
		case err == nil:
			if !stillThere(lock, dir) { // removed, with its run, since it was opened
				lock.Close()
				continue
			}
			said, err := k.settle(dir)
			if err != nil {
				lock.Close()
				return nil, err
			}
			return &flocked{lock.File, said}, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			lock.Close()
			return nil, &inUse{dir, "another pgrlab"}
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
			lock.Close()
			return k.lease(dir)
		}
		lock.Close()
		return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
	}
}

// stillThere says whether an open file has its name still.
func stillThere(f *files.File, dir string) bool {
	now, err := files.Lstat(dir, filepath.Base(f.Name()))
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
func (*flocked) moved(string)   {}
func (f *flocked) took() string { return f.said }
