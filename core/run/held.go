package run

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"

	"pgrlab/core/run/files"
)

// IsHeld says whether a process holds a run folder, as one does from the first file of the run until
// it has written the last. Of a lease on another machine that cannot be said at once: IsHeld is then
// false.
func IsHeld(dir string) bool { return thisProcess().isHeld(dir) }

func (k locker) isHeld(dir string) bool {
	if file, err := OpenFile(dir, lockName); err == nil {
		defer file.Close()
		if errors.Is(k.look(file.File), syscall.EWOULDBLOCK) {
			return true
		}
	}
	text, err := files.ReadFile(dir, leaseName, maxText)
	var h holder
	return err == nil && json.Unmarshal(text, &h) == nil && h.here(k.me) && k.alive(h)
}

// lookFlock returns EWOULDBLOCK if another process has locked the file. There is no way to ask that
// without having the lock for a moment, which TakeLock allows for.
func lookFlock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	}
	return err
}

// looks and lookPause are how often and after what time a process tries again to lock a file, in
// case that another one has only looked whether it is locked.
const (
	looks     = 4
	lookPause = 25 * time.Millisecond
)

// TakeLock calls lock, which locks a file and does not wait, until it has the lock, or until another process
// surely holds it: the error is then EWOULDBLOCK.
func TakeLock(lock func() error, sleep func(time.Duration)) (err error) {
	for range looks {
		if err = lock(); !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		sleep(lookPause)
	}
	return err
}

// HasNoLocks says whether the error of a lock is that of a file system without locks.
func HasNoLocks(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}
