package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"pgrlab/core/run"
)

// flock locks a file. Tests replace it by that of a file system without locks.
var flock = syscall.Flock

// adding is held by the goroutine of this process that adds to a results file.
var adding sync.Mutex

// lockResults keeps other processes from adding to a results file until unlock is called. The lock is
// one of a file beside it that is open for writing, since NFS locks nothing else, a folder least of all,
// and the results file itself is replaced. On a file system without locks there is none: there, only one
// process should add to the file.
func lockResults(path string) (unlock func(), err error) {
	adding.Lock()
	defer func() {
		if err != nil {
			adding.Unlock()
		}
	}()
	dir, name := filepath.Dir(path), "."+filepath.Base(path)+".lock"
	for {
		file, err := run.AppendFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("write beside %s: %w", path, reason(err))
		}
		err = flock(int(file.Fd()), syscall.LOCK_EX)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && !named(file.File, dir, name): // its last holder has removed it
		case err == nil, run.HasNoLocks(err):
			return func() {
				os.Remove(filepath.Join(dir, name)) // before the lock ends: what waits for it makes a new one
				file.Close()
				adding.Unlock()
			}, nil
		default:
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		file.Close()
	}
}

// named says whether an open file still has its name.
func named(file *os.File, dir, name string) bool {
	opened, err := file.Stat()
	there, gone := os.Lstat(filepath.Join(dir, name))
	return err == nil && gone == nil && os.SameFile(opened, there)
}
