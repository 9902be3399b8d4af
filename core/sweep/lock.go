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

// lock takes the lock of a folder. The error is ErrElsewhere if another process has it. If the
// file system does not support locks, every process gets it; the lease of the run folder then
// keeps two attempts apart.
func lock(folder *run.Handle) (io.Closer, error) {
	file, err := folder.Append(lockName)
	if err != nil {
		return nil, err
	}
	err = run.TakeLock(func() error { return flock(file.File, syscall.LOCK_EX|syscall.LOCK_NB) }, time.Sleep)
	switch {
	case err == nil:
		return file, nil
	case run.HasNoLocks(err):
		return unlocked{file}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = ErrElsewhere
	}
	file.Close()
	return nil, err
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
	case run.HasNoLocks(err):
		err = alone(unlocked{file})
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = nil
	}
	if err == nil {
		if err = flock(file.File, syscall.LOCK_SH); run.HasNoLocks(err) {
			err = nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
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
	return errors.Is(err, syscall.EWOULDBLOCK) || run.HasNoLocks(err) && run.IsHeld(g.Run(j))
}
