package run

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A folder is held from the beginning of its run until that has closed it, and looking takes it from
// no process.
func TestAFolderIsHeld(t *testing.T) {
	for kind, how := range locks {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if how.isHeld(dir) {
				t.Error("a folder that is not there is held")
			}
			f, err := how.create(dir, []byte("seed = 7\n"))
			if err != nil {
				t.Fatal(err)
			}
			if !how.isHeld(dir) {
				t.Error("the folder of a run that has begun is free")
			}
			if err := f.held(); err != nil {
				t.Errorf("the look took it: %v", err)
			}
			f.Close()
			if how.isHeld(dir) {
				t.Error("the folder of a run that has ended is held")
			}
		})
	}
}

// A process that only looks has the lock for a moment: a run that begins just then waits for it.
func TestALookDoesNotKeepARunOut(t *testing.T) {
	how, waited := thisProcess(), 0
	dir := t.TempDir()
	look, err := os.Create(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(look.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	how.clock.sleep = func(time.Duration) {
		if waited++; waited == 2 {
			look.Close()
		}
	}
	lock, err := how.take(opened(t, dir))
	if err != nil || waited != 2 {
		t.Fatalf("after %d waits: %v", waited, err)
	}
	defer lock.Close()
	if !how.isHeld(dir) {
		t.Error("it does not hold the folder")
	}
	if _, err := how.take(opened(t, dir)); !IsInUse(err) || waited != 2+looks {
		t.Errorf("another one, after %d waits: %v", waited-2, err)
	}
}
