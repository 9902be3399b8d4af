package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/run/files"
)

// cluster has processes on machines that share a file system without locks. Time passes only while
// a process waits.
type cluster struct {
	now   time.Duration
	walls map[string]time.Duration // the errors of the wall clocks of the machines
	gone  map[int]bool             // processes that have ended
	waits func()                   // what the others do while a process waits
	slept int
}

func newCluster() *cluster {
	return &cluster{walls: map[string]time.Duration{}, gone: map[int]bool{}, waits: func() {}}
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// process returns one of the processes.
func (c *cluster) process(host string, pid int) locker {
	return locker{
		flock: func(*os.File) error { return syscall.ENOLCK }, look: func(*os.File) error { return syscall.ENOLCK },
		me:    holder{Process: Process{Host: host, PID: pid, Boot: "boot of " + host, Space: "pid:[1]", Start: 1}},
		alive: func(h holder) bool { return !c.gone[h.PID] && h.Start == 1 },
		clock: clock{
			wall:      func() time.Time { return epoch.Add(c.now + c.walls[host]) },
			monotonic: func() time.Duration { return c.now },
			sleep:     func(d time.Duration) { c.now += d; c.slept++; c.waits() },
			every:     func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }, // tests call beat
		},
	}
}

func line(step int) Line { return Line{Type: "note", Step: step, Member: NoMember} }

// A configuration without a journal belongs to the process that holds the folder, which is about to
// begin the journal. It is removed if that process is gone.
func TestAConfigurationWithoutAJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	c := newCluster()
	if err := c.process("b", 2).removeUnbegun(dir); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	first, err := c.process("a", 1).create(dir, []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first.Path(JournalName)); err != nil {
		t.Fatal(err)
	}
	c.waits = first.lock.(*lease).beat
	if err := c.process("b", 2).removeUnbegun(dir); !IsInUse(err) || !files.Regular(dir, ConfigName) {
		t.Errorf("while the other lives: %v, %v", err, contents(t, dir))
	}
	c.waits = func() {} // the process is stopped
	if err := c.process("b", 2).removeUnbegun(dir); err != nil || files.Regular(dir, ConfigName) || files.Regular(dir, leaseName) {
		t.Errorf("afterwards: %v, %v", err, contents(t, dir))
	}
}

// Everything that a process writes to a folder that it has lost is refused, and not a byte of the
// folder changes; what the new owner writes is whole.
func TestALostLeaseStopsItsWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	c := newCluster()
	first, err := c.process("a", 1).create(dir, []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := first.NewLog("real-0")
	if err != nil {
		t.Fatal(err)
	}
	var path string
	for step := 1; step <= 3; step++ {
		if err := errors.Join(first.Append(line(step)), first.Sync()); err != nil {
			t.Fatal(err)
		}
		s := sample(step, fmt.Sprint(step))
		s.Journal = first.Mark()
		if path, _, err = first.WriteCheckpoint(s); err != nil {
			t.Fatal(err)
		}
	}
	own := first.lock.(*lease)
	c.waits = own.beat
	if _, err := c.process("b", 2).open(dir); !errors.Is(err, errInUse) || !strings.Contains(err.Error(), "in use by pgrlab 1 on a: pgrlab attach ") {
		t.Fatalf("while it lives: %v", err)
	}
	c.waits, c.now = func() {}, 0 // the process is stopped
	second, err := c.process("b", 2).open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.now != leaseOver || len(second.Said()) != 1 || !strings.HasPrefix(second.Said()[0], "took over the lease of pgrlab 1 on a: it gave no sign of life for 1m0s") {
		t.Errorf("after %s: %q", c.now, second.Said())
	}
	if _, err := second.Rewind(Mark{Size: first.Size(), SHA256: first.Mark().SHA256}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Append(line(4)), second.Sync()); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	for what, do := range map[string]func() error{
		"append":     func() error { return first.Append(line(9)) },
		"sync":       first.Sync,
		"save":       func() error { return first.Write(PolicyName, []byte("weights")) },
		"checkpoint": func() error { _, _, err := first.WriteCheckpoint(sample(9, "9")); return err },
		"log":        func() error { return log.Append([]byte("rows")) },
		"new log":    func() error { _, err := first.NewLog("real-1"); return err },
		"data": func() error {
			_, err := first.WriteData("synthetic", func(w io.Writer) error { _, err := w.Write([]byte("rows")); return err })
			return err
		},
		"prune": func() error { _, err := first.Prune(path, 1); return err },
		"aside": func() error {
			_, err := first.SetAside(filepath.Join(filepath.Dir(path), CheckpointName(1, "1")))
			return err
		},
		"rewind": func() error { _, err := first.Rewind(EmptyMark()); return err },
		"beat":   func() error { own.beat(); return own.held() },
	} {
		if err := do(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "pgrlab 2 on b") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A process that was stopped between checking and writing writes into a file that has no name
	// any more, and renews a lease that has none.
	if _, err := first.journal.Write([]byte("too late\n")); err != nil {
		t.Error(err)
	}
	text, err := own.text()
	if err == nil {
		_, err = own.file.WriteAt(text, 0)
	}
	if err := errors.Join(err, log.Close()); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil && !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("something was changed: %d files, then %d", len(before), len(after))
	}
	if err := errors.Join(second.Append(line(5)), second.Close()); err != nil {
		t.Error(err)
	}
	if _, err := files.Lstat(dir, leaseName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lease is left: %v", err)
	}
	if types, err := lines(t, before[JournalName]); len(types) != 4 || err != nil {
		t.Errorf("%v, %v", types, err)
	}
}

// Wall clocks may be wrong and may jump: a live process keeps the folder, and a dead one loses it
// after the same time.
func TestClocksThatJump(t *testing.T) {
	const year = 365 * 24 * time.Hour
	jumps := []time.Duration{0, time.Minute + time.Second, -time.Minute - time.Second, 30 * year, -30 * year}
	for _, holders := range jumps {
		for _, observers := range jumps {
			for _, later := range []time.Duration{time.Hour, -time.Hour} {
				dir := t.TempDir()
				c := newCluster()
				c.walls["a"], c.walls["b"] = holders, observers
				first, err := c.process("a", 1).lease(opened(t, dir))
				if err != nil {
					t.Fatal(err)
				}
				looks := 0
				c.waits = func() {
					if looks++; looks == 2 {
						c.walls["a"] += later
						c.walls["b"] -= later
					}
					if looks == 3 {
						first.(*lease).beat()
					}
				}
				if _, err := c.process("b", 2).lease(opened(t, dir)); !errors.Is(err, errInUse) {
					t.Fatalf("clocks off by %s and %s, then by %s: taken from the living: %v", holders, observers, later, err)
				}
				begin := c.now
				c.waits = func() {}
				second, err := c.process("b", 2).lease(opened(t, dir))
				if err != nil || c.now-begin != leaseOver {
					t.Fatalf("clocks off by %s and %s: after %s: %v", holders, observers, c.now-begin, err)
				}
				if err := first.held(); !errors.Is(err, ErrLost) {
					t.Error(err)
				}
				if err := errors.Join(first.Close(), second.held(), second.Close()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A machine that slept for hours has observed nothing meanwhile.
func TestAMachineThatSlept(t *testing.T) {
	dir := t.TempDir()
	c := newCluster()
	first, err := c.process("a", 1).lease(opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	c.waits = func() {
		if looks++; looks < 4 {
			c.now += 10 * time.Hour // on both machines
		} else {
			first.(*lease).beat()
		}
	}
	if _, err := c.process("b", 2).lease(opened(t, dir)); !errors.Is(err, errInUse) {
		t.Errorf("%v", err)
	}
}

// On the holder's own machine its process is looked up: a process that exists keeps the folder
// however long it was silent, and one that is gone loses it at once.
func TestAProcessOfTheSameMachine(t *testing.T) {
	for want, h := range map[string]Process{
		"in use by pgrlab 1 on a":      {Host: "a", PID: 1, Boot: "boot of a", Space: "pid:[1]", Start: 1},
		"that process is gone":         {Host: "a", PID: 7, Boot: "boot of a", Space: "pid:[1]", Start: 1},
		"that process is gone (reuse)": {Host: "a", PID: 1, Boot: "boot of a", Space: "pid:[1]", Start: 9},
		"no sign of life for 1m0s":     {Host: "a", PID: 7, Boot: "boot of a", Space: "pid:[2]"},
		"no sign of life (rebooted)":   {Host: "a", PID: 1, Boot: "another", Space: "pid:[1]", Start: 1},
		"no sign of life (unknown)":    {Host: "a", PID: 1},
	} {
		dir := t.TempDir()
		c := newCluster()
		c.gone[7] = true
		text, _ := json.Marshal(holder{Process: h})
		if err := os.WriteFile(filepath.Join(dir, leaseName), text, 0o644); err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(want, " (")
		by, atMost := c.process("a", 2).watched(dir)
		if c.slept > 0 || (atMost > 0) != strings.Contains(want, "no sign") || (by != "") != (atMost > 0) {
			t.Errorf("%+v: it is said that %q is watched for %v, want %s", h, by, atMost, want)
		}
		got, err := c.process("a", 2).lease(opened(t, dir))
		if err != nil {
			if !strings.Contains(err.Error(), want) || c.slept > 0 {
				t.Errorf("%+v: %v after %d looks, want %s", h, err, c.slept, want)
			}
			continue
		}
		if said := got.took(); !strings.Contains(said, want) || (c.slept == 0) != strings.Contains(want, "gone") {
			t.Errorf("%+v: %q after %d looks, want %s", h, said, c.slept, want)
		}
		got.Close()
	}
}

// Of several processes that want an expired lease, one gets it. A new lease is not mistaken for the
// expired one, and none gives back another's lease.
func TestALeaseIsTakenByOne(t *testing.T) {
	dir := t.TempDir()
	c := newCluster()
	stale, err := c.process("a", 1).lease(opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	text, err := readLease(opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.process("b", 2).lease(opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if takeAway(opened(t, dir), func(now []byte) bool { return bytes.Equal(now, text) }) { // a process that found the same lease, later
		t.Error("a fresh lease was removed")
	}
	if err := errors.Join(b.held(), stale.Close(), b.held()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, leaseName)); err != nil {
		t.Fatal(err)
	}
	if err := b.held(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "taken away") {
		t.Errorf("removed by hand: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	if err := os.WriteFile(filepath.Join(dir, leaseName), []byte(`{"host":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.process("b", 2).lease(opened(t, dir)); err == nil || !strings.HasSuffix(err.Error(), "its lease cannot be read: remove lease.json if no process writes there") {
		t.Errorf("%v", err)
	}
}

// A lease holds even against a process that can lock the folder when its holder could not.
func TestALockBesideALease(t *testing.T) {
	dir := t.TempDir()
	c := newCluster()
	first, err := c.process("a", 1).lease(opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	locks := c.process("b", 2)
	locks.flock = func(*os.File) error { return nil }
	c.waits = first.(*lease).beat
	if _, err := locks.take(opened(t, dir)); !errors.Is(err, errInUse) {
		t.Errorf("%v", err)
	}
	c.waits = func() {}
	second, err := locks.take(opened(t, dir))
	if err != nil || !strings.Contains(second.took(), "pgrlab 1 on a") {
		t.Fatal(err)
	}
	if err := first.held(); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	second.Close()
}

// Processes come, are stopped, continue, die and leave at any time: each line is whole, and a
// process that has lost the folder adds nothing to it.
func TestWritersWithoutLocks(t *testing.T) {
	handed, seeds := 0, uint64(8)
	if os.Getenv("PGRLAB_SOAK") != "" {
		seeds = 200
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := filepath.Join(t.TempDir(), "run")
		c := newCluster()
		f, err := c.process("h0", 1).create(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		open, stopped := map[int]*Folder{1: f}, map[int]bool{}
		c.waits = func() {
			for pid, f := range open {
				if !stopped[pid] {
					f.lock.(*lease).beat()
				}
			}
		}
		owner, next, written := 1, 2, 0
		for range 80 {
			switch pid := 1 + r.IntN(next); r.IntN(6) {
			case 0: // a new one asks for the folder
				f, err := c.process(fmt.Sprintf("h%d", r.IntN(3)), next).open(dir)
				if err != nil {
					if !errors.Is(err, errInUse) {
						t.Fatal(err)
					}
					continue
				}
				if open[owner] != nil && !stopped[owner] {
					t.Fatalf("seed %d: %d took the folder from %d, which lives", seed, next, owner)
				}
				m, err := wholeLines(f.root)
				if err == nil {
					_, err = f.Rewind(m)
				}
				if err != nil {
					t.Fatal(err)
				}
				open[next], owner = f, next
				next++
				handed++
			case 1:
				stopped[pid] = true
			case 2:
				delete(stopped, pid)
			case 3: // it is killed
				if f := open[pid]; f != nil && r.IntN(2) == 0 {
					c.gone[pid] = true
					delete(open, pid)
					f.journal.Close()
				}
			case 4:
				if f := open[pid]; f != nil && !stopped[pid] && r.IntN(3) == 0 {
					f.Close()
					delete(open, pid)
				}
			default:
				if f := open[pid]; f != nil && !stopped[pid] {
					err := f.Append(line(pid))
					if (err == nil) != (pid == owner) {
						t.Fatalf("seed %d: %d writes, %d owns the folder: %v", seed, pid, owner, err)
					}
					if err == nil {
						written++
					}
				}
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, JournalName))
		if err != nil {
			t.Fatal(err)
		}
		if types, err := lines(t, string(text)); err != nil || len(types) != written {
			t.Fatalf("seed %d: %d lines, %d were written: %v", seed, len(types), written, err)
		}
	}
	if handed < int(seeds) {
		t.Errorf("the folder was handed on %d times only", handed)
	}
}

// opened is a folder, open until the test ends.
func opened(t *testing.T, dir string) *files.Root {
	t.Helper()
	root, err := files.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
