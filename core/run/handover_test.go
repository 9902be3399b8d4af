package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pgrlab/core/run/files"
)

// locks are the two ways in which a folder is locked.
var locks = map[string]locker{"flock": thisProcess(), "lease": leasing()}

// leasing is this process on a file system without locks.
func leasing() locker {
	k := thisProcess()
	k.flock = func(*os.File) error { return syscall.ENOLCK }
	k.look = k.flock
	return k
}

// steal tries to take the folder as another process would.
func (k locker) steal(dir string) (hold, error) {
	k.me.PID = os.Getppid()
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return k.take(root)
}

// inherited returns a lock as another process would inherit it.
func inherited(t *testing.T, h *Hold) *os.File {
	t.Helper()
	if h.File() == nil {
		return nil
	}
	fd, err := unix.FcntlInt(h.File().Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "inherited")
}

// A folder that is handed over, or taken back, is never free in between: a process that tries all the
// time does not get it before its last holder has closed it.
func TestAFolderIsHandedOver(t *testing.T) {
	for kind, how := range locks {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			f, err := how.create(dir, []byte("seed = 7\n"))
			if err != nil {
				t.Fatal(err)
			}
			stop, tries := make(chan struct{}), 0
			var thief sync.WaitGroup
			thief.Go(func() {
				for {
					if got, err := how.steal(dir); err == nil {
						t.Error("a third one took the folder")
						got.Close()
						return
					}
					tries++
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			for turn := range 40 {
				if err := f.Append(Line{Type: "note", Step: turn}); err != nil {
					t.Fatal(err)
				}
				mark := f.Mark()
				h, err := f.Hold()
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				if turn%2 == 0 {
					f, err = how.adoptFolder(opened(t, dir), inherited(t, h), os.Getpid())
				} else {
					f, err = h.Reopen()
				}
				if err == nil {
					_, err = f.Rewind(mark)
				}
				if err != nil {
					t.Fatal(turn, err)
				}
				if err := h.Close(); err != nil {
					t.Fatal(err)
				}
			}
			close(stop)
			thief.Wait()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, JournalName))
			if err != nil || strings.Count(string(text), "\n") != 40 {
				t.Errorf("%v:\n%s", err, text)
			}
			f, err = how.open(dir)
			if err != nil {
				t.Fatalf("after %d tries of others and the end: %v", tries, err)
			}
			f.Close()
		})
	}
}

// A hold that is given up before its folder was closed leaves the folder as it was.
func TestAHoldIsGivenUp(t *testing.T) {
	for kind, how := range locks {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			f, err := how.create(dir, []byte("seed = 7\n"))
			if err != nil {
				t.Fatal(err)
			}
			h, err := f.Hold()
			if err == nil {
				err = h.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := how.steal(dir); err == nil {
				got.Close()
				t.Error("it is free")
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if f, err = how.open(dir); err != nil {
				t.Fatal(err)
			}
			f.Close()
		})
	}
}

// A process can adopt a folder only with its lock.
func TestOnlyTheLockIsAdopted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := Create(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.Hold()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	other, err := os.Create(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(dir, other, os.Getpid()); err == nil || !strings.Contains(err.Error(), "has been replaced") {
		t.Error(err)
	}
	second, err := os.Open(filepath.Join(dir, lockName)) // another open file: not locked
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(dir, second, os.Getpid()); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Error(err)
	}
	if f, err = h.Reopen(); err != nil {
		t.Fatal(err)
	}
	h.Close()
	f.Close()
	if f, err = locks["lease"].open(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := locks["lease"].adoptFolder(opened(t, dir), nil, os.Getpid()+1); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the lease of another process was adopted: %v", err)
	}
}

// A folder is taken back from a process that has adopted it and then given up, or died.
func TestAFolderIsTakenBack(t *testing.T) {
	for kind, how := range locks {
		for _, died := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "run")
			f, err := how.create(dir, []byte("seed = 7\n"))
			if err != nil {
				t.Fatal(err)
			}
			h, err := f.Hold()
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			next := how
			next.me.PID = os.Getppid()
			adopted, err := next.adoptFolder(opened(t, dir), inherited(t, h), os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			if died {
				defer adopted.Close()
				h.by.alive = func(of holder) bool { return of.PID == os.Getpid() }
			} else if err := adopted.Close(); err != nil {
				t.Fatal(err)
			}
			if f, err = h.Reopen(); err != nil {
				t.Errorf("%s, died: %v: %v", kind, died, err)
				continue
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			if got, err := how.steal(dir); err == nil {
				got.Close()
				t.Errorf("%s, died: %v: it is free", kind, died)
			}
			f.Close()
		}
	}
}
