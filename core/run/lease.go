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
	// heartbeat is how often a lease is renewed; one that nobody has seen renewed for
	// leaseOver is anybody's.
	heartbeat = 10 * time.Second
	leaseOver = 6 * heartbeat
	// leaseLook is how often a lease is looked at that may be over.
	leaseLook = heartbeat / 4
	// leaseBytes is the size of the file, whatever it says: it is renewed in place.
	leaseBytes = 1024
)

// lease is a file that names who writes the folder. Its owner renews it through the file
// that it has opened, so that what another process has put in its place is never
// touched, and looks whose it is before everything that it writes to the folder.
type lease struct {
	dir   string
	me    holder
	file  *files.File
	clock clock
	said  string      // what was said when another's was taken over
	kept  atomic.Bool // by a Hold, when it is closed
	left  atomic.Bool // to a Hold, since it was closed
	stop  chan struct{}
	done  sync.WaitGroup

	mu   sync.Mutex // of what follows
	lost error
}

// lease takes the folder where the file system refuses locks.
func (k locker) lease(dir string) (hold, error) {
	l := k.newLease(dir)
	for {
		err := l.create()
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock run folder %s: %w", dir, reason(err))
		}
		said, err := k.settle(dir)
		if err != nil {
			return nil, err
		}
		l.said = said
	}
	l.keepAlive()
	return l, nil
}

// adopt takes the lease over from a process of this machine that does not renew it any
// more, and keeps it until then: nobody else finds the folder free in between.
func (k locker) adopt(dir string, from int) (hold, error) {
	text, err := readLease(dir)
	if err != nil {
		return nil, fmt.Errorf("take over run folder %s: its lease: %w", dir, reason(err))
	}
	var h holder
	if json.Unmarshal(text, &h) != nil || !h.here(k.me) || h.PID != from {
		return nil, &inUse{dir, fmt.Sprintf("pgrlab %d on %s", h.PID, h.Host)}
	}
	l := k.newLease(dir)
	if err := l.write(func(temporary string) error { return files.Rename(dir, temporary, leaseName) }); err != nil {
		return nil, fmt.Errorf("take over run folder %s: %w", dir, reason(err))
	}
	l.keepAlive()
	return l, nil
}

func (k locker) newLease(dir string) *lease {
	l := &lease{dir: dir, me: k.me, clock: k.clock, stop: make(chan struct{})}
	l.me.Token = fmt.Sprintf("%016x", rand.Uint64())
	return l
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

// settle removes the lease of a process that is gone, if there is one, and says why; it
// is an error where there is one that holds.
func (k locker) settle(dir string) (said string, err error) {
	for {
		text, err := readLease(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return said, nil
		}
		if err != nil {
			return "", fmt.Errorf("lock run folder %s: its lease: %w", dir, reason(err))
		}
		why, err := k.judge(dir, text)
		if err != nil {
			return "", err
		}
		if why == "" || !takeAway(dir, func(now []byte) bool { return bytes.Equal(now, text) }) {
			continue // it has changed since
		}
		var h holder
		_ = json.Unmarshal(text, &h) // judge has read it
		said = fmt.Sprintf("took over the lease of pgrlab %d on %s: %s", h.PID, h.Host, why)
	}
}

// over says whether no lease is on a folder but that of a process known to be gone.
func (k locker) over(dir string) bool {
	text, err := readLease(dir)
	var h holder
	return errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(text, &h) == nil && h.here(k.me) && !k.alive(h)
}

// judge says why who holds a lease no longer writes; "" where the lease is another one
// now. It is an error, errInUse, where the holder writes. Clocks are not believed: of a
// process on another machine it is known only by looking whether the lease is renewed.
func (k locker) judge(dir string, text []byte) (why string, err error) {
	var h holder
	readable := json.Unmarshal(text, &h) == nil
	if readable && h.here(k.me) {
		if k.alive(h) {
			return "", &inUse{dir, fmt.Sprintf("pgrlab %d on %s", h.PID, h.Host)}
		}
		return "that process is gone", nil
	}
	// Of what passes between two looks no more counts than they are meant to be apart:
	// a machine that slept has seen nothing.
	for last, quiet := k.clock.monotonic(), time.Duration(0); quiet < leaseOver; {
		k.clock.sleep(leaseLook)
		now, err := readLease(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err == nil && !bytes.Equal(now, text) {
			var renewed holder
			if json.Unmarshal(now, &renewed) == nil && renewed.PID != 0 {
				return "", &inUse{dir, fmt.Sprintf("pgrlab %d on %s", renewed.PID, renewed.Host)}
			}
			return "", nil // it is just being written
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

// Watched says whose lease on a folder Open can only judge by watching whether it is
// renewed, and how long that takes at most: of a process on another machine, or one of this
// machine from before it was started anew. Nothing where Open answers at once.
func Watched(dir string) (by string, atMost time.Duration) { return thisProcess().watched(dir) }

func (k locker) watched(dir string) (by string, atMost time.Duration) {
	text, err := readLease(dir)
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

// takeAway removes the lease if mine says that it is the one that is meant. Several may
// want to, and meanwhile a new one may have been put there: so it is moved first, which
// only one of them can do, and put back where it is another one.
func takeAway(dir string, mine func(text []byte) bool) bool {
	gone := fmt.Sprintf("%s.gone-%016x", leaseName, rand.Uint64())
	if files.Rename(dir, leaseName, gone) != nil {
		return false // another process was quicker
	}
	defer files.Remove(dir, gone)
	text, err := files.ReadFile(dir, gone, maxText)
	if err == nil && mine(text) {
		return true
	}
	// If a third process has made one meanwhile, this one is lost, and its owner sees
	// that before it writes.
	_ = files.Link(dir, gone, dir, leaseName)
	return false
}

func readLease(dir string) ([]byte, error) { return files.ReadFile(dir, leaseName, maxText) }

// text is what the file says now.
func (l *lease) text() ([]byte, error) {
	l.me.Beats++
	l.me.Beat = l.clock.wall().UTC() // for people, and for older versions
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
		return files.Link(l.dir, temporary, l.dir, leaseName) // fails where there is one, also on network file systems
	})
}

// write writes the lease beside its place, into which put puts it.
func (l *lease) write(put func(temporary string) error) error {
	text, err := l.text()
	if err != nil {
		return err
	}
	file, temporary, err := createBeside(l.dir, leaseName)
	if err != nil {
		return err
	}
	defer files.Remove(l.dir, temporary)
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

// beat is a sign of life.
func (l *lease) beat() {
	if l.held() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, err := l.text(); err == nil {
		_, _ = l.file.WriteAt(text, 0) // the next beat tries again
		_ = l.file.Sync()              // other machines are to see it
	}
}

// isMine says whether a lease is this one.
func (l *lease) isMine(text []byte) bool {
	var h holder
	return json.Unmarshal(text, &h) == nil && h.Token == l.me.Token
}

// held looks whose the lease is. A lease that was lost stays lost.
func (l *lease) held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	text, err := readLease(l.dir)
	if err == nil && l.isMine(text) {
		return nil
	}
	var h holder
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.lost = fmt.Errorf("%w: the lease of this one was taken away", ErrLost)
	case err != nil:
		return fmt.Errorf("look at the lease: %w", reason(err)) // the next look may tell
	case json.Unmarshal(text, &h) == nil:
		l.lost = fmt.Errorf("%w: pgrlab %d on %s", ErrLost, h.PID, h.Host)
	default:
		l.lost = ErrLost
	}
	return l.lost
}

func (l *lease) moved(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dir = dir
}

func (l *lease) took() string { return l.said }

// Close gives the lease back, if it is still there to be given and no Hold keeps it.
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
	err := l.held()
	switch {
	case errors.Is(err, ErrLost):
		err = nil // what is there is another's
	case err == nil:
		takeAway(l.dir, l.isMine)
	}
	if e := l.file.Close(); err == nil && !errors.Is(e, os.ErrClosed) {
		err = e
	}
	return err
}
