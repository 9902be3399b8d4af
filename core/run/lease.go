package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pgrlab/core/printable"
	"pgrlab/core/run/files"
)

const (
	leaseName = "lease.json"
	// heartbeat is how often a lease is renewed. A lease that was not seen renewed for
	// leaseOver may be taken by any process.
	heartbeat = 10 * time.Second
	leaseOver = 6 * heartbeat
	// leaseLook is how often a process checks a lease that may be over.
	leaseLook = heartbeat / 4
	// leaseBytes is the fixed size of the file, which is renewed in place.
	leaseBytes = 1024
)

// lease is a file that names the process that writes the folder. The owner renews it
// through its open file, so that a lease that another process has put in its place is never
// touched, and checks before every write to the folder that the lease is still its own.
type lease struct {
	root  *files.Root
	me    holder
	file  *files.File
	clock clock
	said  string      // message about the lease that this one replaced
	kept  atomic.Bool // a Hold keeps the lease when it is closed
	left  atomic.Bool // it was closed and left to a Hold
	stop  chan struct{}
	done  sync.WaitGroup

	mu   sync.Mutex // guards lost, and me against the heartbeat
	lost error
}

// lease takes the folder if the file system refuses locks.
func (k locker) lease(root *files.Root) (hold, error) {
	dir := root.Name()
	l, err := k.newLease(root)
	if err != nil {
		return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
	}
	for {
		err := l.create()
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			l.root.Close()
			return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
		}
		said, err := k.settle(root)
		if err != nil {
			l.root.Close()
			return nil, err
		}
		l.said = said
	}
	l.keepAlive()
	return l, nil
}

// adopt takes the lease over from a process of this machine that no longer renews it but
// keeps it until then, so that no other process finds the folder free in between.
func (k locker) adopt(root *files.Root, from int) (hold, error) {
	dir := root.Name()
	text, err := readLease(root)
	if err != nil {
		return nil, fmt.Errorf("take over run folder %s: its lease: %w", dir, reason(err))
	}
	var h holder
	if json.Unmarshal(text, &h) != nil || !h.here(k.me) || h.PID != from {
		return nil, &inUse{dir, fmt.Sprintf("pgrlab %d on %s", h.PID, h.Host)}
	}
	l, err := k.newLease(root)
	if err == nil {
		if err = l.write(func(temporary string) error { return root.Rename(temporary, leaseName) }); err != nil {
			l.root.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	l.keepAlive()
	return l, nil
}

func (k locker) newLease(root *files.Root) (*lease, error) {
	own, err := root.Again() // a Hold may keep the lease for longer than the Folder is open
	if err != nil {
		return nil, err
	}
	l := &lease{root: own, me: k.me, clock: k.clock, stop: make(chan struct{})}
	l.me.Token = fmt.Sprintf("%016x", rand.Uint64())
	return l, nil
}

// keepAlive renews the lease until it is closed.
func (l *lease) keepAlive() {
	beats, end := l.clock.every(heartbeat)
	l.done.Go(func() {
		defer end()
		for {
			select {
			case <-l.stop:
				return
			case <-beats:
				l.beat()
			}
		}
	})
}

// settle removes the lease of a process that is gone, if there is one, and says why. A
// lease that is still valid is an error.
func (k locker) settle(root *files.Root) (said string, err error) {
	dir := root.Name()
	for {
		text, err := readLease(root)
		if errors.Is(err, fs.ErrNotExist) {
			return said, nil
		}
		if err != nil {
			return "", fmt.Errorf("lock run folder %s: its lease: %w", dir, reason(err))
		}
		why, err := k.judge(root, text)
		if err != nil {
			return "", err
		}
		if why == "" || !takeAway(root, func(now []byte) bool { return bytes.Equal(now, text) }) {
			continue // the lease has changed since
		}
		var h holder
		_ = json.Unmarshal(text, &h) // judge has read it
		said = fmt.Sprintf("took over the lease of pgrlab %d on %s: %s", h.PID, h.Host, why)
	}
}

// over says whether a folder has no lease, or one of a process that is known to be gone.
func (k locker) over(root *files.Root) bool {
	text, err := readLease(root)
	var h holder
	return errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(text, &h) == nil && h.here(k.me) && !k.alive(h)
}

// judge says why the holder of a lease no longer writes; "" if the lease is another one by
// now. If the holder still writes, the error is errInUse. Clocks are not trusted: whether a
// process on another machine lives is found out only by watching whether its lease is renewed.
func (k locker) judge(root *files.Root, text []byte) (why string, err error) {
	dir := root.Name()
	var h holder
	readable := json.Unmarshal(text, &h) == nil
	if readable && h.here(k.me) {
		if k.alive(h) {
			return "", &inUse{dir, fmt.Sprintf("pgrlab %d on %s", h.PID, h.Host)}
		}
		return "that process is gone", nil
	}
	// The time between two looks counts at most as leaseLook: a machine that was suspended
	// has seen nothing in between.
	for last, quiet := k.clock.monotonic(), time.Duration(0); quiet < leaseOver; {
		k.clock.sleep(leaseLook)
		now, err := readLease(root)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err == nil && !bytes.Equal(now, text) {
			var renewed holder
			if json.Unmarshal(now, &renewed) == nil && renewed.PID != 0 {
				return "", &inUse{dir, fmt.Sprintf("pgrlab %d on %s", renewed.PID, renewed.Host)}
			}
			return "", nil // the lease is just being written
		}
		at := k.clock.monotonic()
		quiet += min(at-last, leaseLook)
		last = at
	}
	if !readable {
		return "", fmt.Errorf("run folder %s: its lease cannot be read: remove %s if no process writes there", dir, leaseName)
	}
	return fmt.Sprintf("it gave no sign of life for %s", leaseOver), nil
}

// Watched says whose lease Open can judge only by watching whether it is renewed, and how
// long that takes at most. This is the lease of a process on another machine, or of one on
// this machine from before its last reboot. by is "" if Open answers at once.
func Watched(dir string) (by string, atMost time.Duration) { return thisProcess().watched(dir) }

func (k locker) watched(dir string) (by string, atMost time.Duration) {
	text, err := files.ReadFile(dir, leaseName, maxText)
	if err != nil {
		return "", 0
	}
	var h holder
	switch readable := json.Unmarshal(text, &h) == nil; {
	case readable && h.here(k.me):
		return "", 0
	case !readable:
		return "an unknown process", leaseOver
	}
	return printable.Line(fmt.Sprintf("pgrlab %d on %s", h.PID, h.Host)), leaseOver
}

// takeAway removes the lease if mine says that it is the right one. Several processes may
// try to, and a new lease may have been created meanwhile: so the file is moved away first,
// which only one process can do, and put back if it is another lease.
func takeAway(root *files.Root, mine func(text []byte) bool) bool {
	gone := fmt.Sprintf("%s.gone-%016x", leaseName, rand.Uint64())
	if root.Rename(leaseName, gone) != nil {
		return false // another process was quicker
	}
	defer root.Remove(gone)
	text, err := root.ReadFile(gone, maxText)
	if err == nil && mine(text) {
		return true
	}
	// If a third process has created a lease meanwhile, this one is lost; its owner notices
	// that before its next write.
	_ = files.Link(root, gone, root, leaseName)
	return false
}

func readLease(root *files.Root) ([]byte, error) { return root.ReadFile(leaseName, maxText) }

// text returns the next content of the file.
func (l *lease) text() ([]byte, error) {
	l.me.Beats++
	l.me.Beat = l.clock.wall().UTC() // for people
	text, err := json.Marshal(l.me)
	if err != nil || len(text) >= leaseBytes {
		return nil, errors.Join(err, errors.New("a lease that is too long"))
	}
	padded := bytes.Repeat([]byte{' '}, leaseBytes)
	padded[leaseBytes-1] = '\n'
	copy(padded, text)
	return padded, nil
}

// create writes the lease if there is none.
func (l *lease) create() error {
	return l.write(func(temporary string) error {
		return files.Link(l.root, temporary, l.root, leaseName) // fails if there is one, also on network file systems
	})
}

// write writes the lease to a temporary file, which put moves into its place.
func (l *lease) write(put func(temporary string) error) error {
	text, err := l.text()
	if err != nil {
		return err
	}
	file, temporary, err := createBeside(l.root, leaseName)
	if err != nil {
		return err
	}
	defer l.root.Remove(temporary)
	_, err = file.WriteAt(text, 0)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = put(temporary)
	}
	if err != nil {
		file.Close()
		return err
	}
	l.file = file
	return nil
}

// beat renews the lease if it is still this one.
func (l *lease) beat() {
	if l.held() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, err := l.text(); err == nil {
		_, _ = l.file.WriteAt(text, 0) // the next beat tries again
		_ = l.file.Sync()              // so that other machines see it
	}
}

// isMine says whether text is the content of this lease.
func (l *lease) isMine(text []byte) bool {
	var h holder
	return json.Unmarshal(text, &h) == nil && h.Token == l.me.Token
}

// held returns nil if the lease is still this one. A lease that was lost stays lost.
func (l *lease) held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	text, err := readLease(l.root)
	if err == nil && l.isMine(text) {
		return nil
	}
	var h holder
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.lost = fmt.Errorf("%w: the lease of this one was taken away", ErrLost)
	case err != nil:
		return fmt.Errorf("look at the lease: %w", reason(err)) // the next look may show it
	case json.Unmarshal(text, &h) == nil:
		l.lost = fmt.Errorf("%w: pgrlab %d on %s", ErrLost, h.PID, h.Host)
	default:
		l.lost = ErrLost
	}
	return l.lost
}

func (l *lease) took() string { return l.said }

// Close gives the lease back if this process still has it and no Hold keeps it.
func (l *lease) Close() error {
	close(l.stop)
	l.done.Wait()
	if l.kept.Load() {
		l.left.Store(true)
		l.beat() // a last sign of life
		return nil
	}
	return l.giveBack()
}

// giveBack removes the lease if it is this one.
func (l *lease) giveBack() error {
	defer l.root.Close()
	err := l.held()
	switch {
	case errors.Is(err, ErrLost):
		err = nil // the lease there belongs to another process
	case err == nil:
		takeAway(l.root, l.isMine)
	}
	if e := l.file.Close(); err == nil && !errors.Is(e, os.ErrClosed) {
		err = e
	}
	return err
}
