package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// flock locks an open file for this process or says at once that it cannot;
// a file system that refuses locks in tests.
var flock = func(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// elsewhere is what somebody can do who wants to begin a run in a folder that is taken.
const elsewhere = ": choose another one with --out"

// takeLock locks the folder for this process. The lock goes with the process,
// however it ends. Where the file system knows no locks it is a lease.
func takeLock(dir string) (io.Closer, error) {
	path := filepath.Join(dir, lockName)
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock run folder %s: %w: choose another one with --out", dir, reason(err))
	}
	err = flock(lock)
	if err == nil {
		return lock, nil
	}
	lock.Close()
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, fmt.Errorf("run folder %s is in use by another pgrlab"+elsewhere, dir)
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return takeLease(dir, self())
	}
	return nil, fmt.Errorf("lock run folder %s: %w", dir, err)
}

// note keeps what taking the lock has to say.
func (f *Folder) note(lock io.Closer) {
	if l, ok := lock.(*lease); ok && l.took != "" {
		f.said = append(f.said, l.took)
	}
}

const (
	leaseName = "lease.json"
	// heartbeat is how often a lease is renewed; one that was not for leaseOver is
	// anybody's.
	heartbeat = 10 * time.Second
	leaseOver = 6 * heartbeat
)

// holder is a process that writes a run folder.
type holder struct {
	Host string    `json:"host"`
	PID  int       `json:"pid"`
	Boot string    `json:"boot"` // of the machine: a process id means nothing after a reboot
	Beat time.Time `json:"beat"`
}

func self() holder {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return holder{Host: host, PID: os.Getpid(), Boot: strings.TrimSpace(string(boot))}
}

// stale says why h no longer writes, or "".
func (h holder) stale(me holder, now time.Time) string {
	switch {
	case h.Host == me.Host && h.Boot != me.Boot:
		return "this machine was started anew since"
	case h.Host == me.Host && syscall.Kill(h.PID, 0) == syscall.ESRCH:
		return "that process is gone"
	case now.Sub(h.Beat) > leaseOver:
		return fmt.Sprintf("it gave no sign of life for %s", now.Sub(h.Beat).Round(time.Second))
	}
	return ""
}

// lease is a file that names who writes the folder and is renewed now and then.
type lease struct {
	path string
	me   holder
	took string      // what was said when somebody else's was taken over
	held atomic.Bool // a Hold keeps it when it is closed
	stop chan struct{}
	done sync.WaitGroup
}

func takeLease(dir string, me holder) (*lease, error) {
	return takeLeaseFrom(dir, me, func(holder) bool { return false })
}

// takeLeaseFrom is takeLease where from says whose lease is this process's to take over.
func takeLeaseFrom(dir string, me holder, from func(h holder) bool) (*lease, error) {
	l := &lease{path: filepath.Join(dir, leaseName), me: me, stop: make(chan struct{})}
	for {
		err := l.create()
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
		}
		if h, err := readHolder(l.path); err == nil && from(h) {
			if err := l.write(); err != nil {
				return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
			}
			break
		}
		if err := l.evict(dir); err != nil {
			return nil, err
		}
	}
	l.done.Add(1)
	go l.renew()
	return l, nil
}

// create writes the lease if there is none.
func (l *lease) create() error {
	l.me.Beat = time.Now().UTC()
	text, err := json.Marshal(l.me)
	if err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s%s-%d", l.path, unfinished, l.me.PID)
	if err := os.WriteFile(temporary, text, 0o644); err != nil {
		return err
	}
	defer os.Remove(temporary)
	return os.Link(temporary, l.path) // fails where there is one, also on network file systems
}

// evict removes a lease whose holder is gone, or says who holds it.
func (l *lease) evict(dir string) error {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var h holder
	if err != nil || json.Unmarshal(text, &h) != nil {
		return fmt.Errorf("run folder %s: its lease cannot be read: remove %s if nobody writes there", dir, l.path)
	}
	why := h.stale(l.me, time.Now())
	if why == "" {
		return fmt.Errorf("run folder %s is in use by pgrlab %d on %s"+elsewhere, dir, h.PID, h.Host)
	}
	// The rename is what only one of several evicting processes can do.
	gone := fmt.Sprintf("%s.stale-%d", l.path, l.me.PID)
	if err := os.Rename(l.path, gone); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	os.Remove(gone)
	l.took = fmt.Sprintf("took over the lease of pgrlab %d on %s: %s", h.PID, h.Host, why)
	return nil
}

// renew writes signs of life until the lease is given back.
func (l *lease) renew() {
	defer l.done.Done()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case now := <-tick.C:
			l.me.Beat = now.UTC()
			l.write() // tried again at the next beat
		}
	}
}

// write replaces the lease at once.
func (l *lease) write() error {
	text, err := json.Marshal(l.me)
	if err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s%s-%d", l.path, unfinished, l.me.PID)
	if err := os.WriteFile(temporary, text, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, l.path)
}

// readHolder says who holds a lease.
func readHolder(path string) (h holder, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	return h, err
}

// Close gives the lease back, or leaves it to its Hold, with a last sign of life.
func (l *lease) Close() error {
	close(l.stop)
	l.done.Wait()
	if l.held.Load() {
		l.me.Beat = time.Now().UTC()
		return l.write()
	}
	return os.Remove(l.path)
}

// remove takes the lease away if it is still this process's.
func (l *lease) remove() error {
	if h, err := readHolder(l.path); err != nil || h.PID != l.me.PID || h.Host != l.me.Host || h.Boot != l.me.Boot {
		return nil
	}
	return os.Remove(l.path)
}
