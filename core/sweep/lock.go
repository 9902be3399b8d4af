package sweep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pgrlab/core/run"
)

// flock locks a file. Tests replace it by that of a file system without locks.
var flock = func(file *os.File, how int) error { return syscall.Flock(int(file.Fd()), how) }

// lockTries and lockPause allow for processes that only check whether the lock is held: they
// hold it themselves for a moment.
const (
	lockTries = 4
	lockPause = 25 * time.Millisecond
)

// lock takes the lock of a folder. The error is ErrElsewhere if another process has it. If the
// file system does not support locks, every process gets it; the lease of the run folder then
// keeps two attempts apart.
func lock(folder *run.Handle) (io.Closer, error) {
	file, err := folder.Append(lockName)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		switch err = flock(file.File, syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return file, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return unlocked{file}, nil
		}
		time.Sleep(lockPause)
	}
	file.Close()
	return nil, ErrElsewhere
}

// unlocked is the lock of a folder that every process gets.
type unlocked struct{ io.Closer }

func isUnlocked(lock io.Closer) bool {
	_, is := lock.(unlocked)
	return is
}

// tidy removes the temporary files of killed processes from a folder below one that was locked, unless
// another process may be just writing them.
func tidy(folder *run.Handle, name string, lock io.Closer) {
	if !isUnlocked(lock) {
		folder.Tidy(name)
	}
}

// enter takes a share in the lock of a sweep's own folder, for as long as the process uses the sweep. If no other
// process has one, it calls alone first, with the lock.
func enter(folder *run.Handle, alone func(lock io.Closer) error) (io.Closer, error) {
	file, err := folder.Append(lockName)
	if err != nil {
		return nil, err
	}
	switch err = flock(file.File, syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		err = alone(file)
	case unlockable(err):
		err = alone(unlocked{file})
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = nil
	}
	if err == nil {
		if err = flock(file.File, syscall.LOCK_SH); unlockable(err) {
			err = nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unlockable says whether an error is that of a file system without locks.
func unlockable(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// try returns nil if the lock of a folder is free, and EWOULDBLOCK if another process has it.
func (g *Grid) try(dir string) error {
	file, err := g.folder.Open(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	defer file.Close()
	return flock(file.File, syscall.LOCK_SH|syscall.LOCK_NB)
}

// IsHeld says whether a process makes an attempt at a job, judged by the job's lock; on a disk
// without locks by the run folder, which shows only processes of this machine.
func (g *Grid) IsHeld(j Job) bool {
	err := g.try(j.Name())
	return errors.Is(err, syscall.EWOULDBLOCK) || unlockable(err) && run.IsHeld(g.Run(j))
}
