package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgrlab/core/run/files"
)

// weather is a disk on which operations fail now and then, each with a different error. A failed
// Sync may lose what was not synced.
type weather struct {
	rand    *rand.Rand
	calm    bool
	content []byte
	durable int // bytes that have reached the disk
}

var storms = []syscall.Errno{syscall.EIO, syscall.EBADF, syscall.EROFS, syscall.EACCES, syscall.ESTALE, syscall.ENOSPC, syscall.EDQUOT}

// fails returns an error, or nil most of the time.
func (w *weather) fails() error {
	if w.calm || w.rand.IntN(3) > 0 {
		return nil
	}
	return &fs.PathError{Op: "write", Path: "/run/events.jsonl", Err: storms[w.rand.IntN(len(storms))]}
}

// handle is the file as one call of open returned it.
type handle struct {
	*weather
	at     int
	broken error // the error of every operation after the first that returned it
}

func (h *handle) gone() error {
	if h.broken == nil {
		if h.broken = h.fails(); IsFull(h.broken) {
			err := h.broken
			h.broken = nil // a full disk may recover, a broken file does not
			return err
		}
	}
	return h.broken
}

func (h *handle) Read(b []byte) (int, error) {
	if h.at >= len(h.content) {
		return 0, io.EOF
	}
	n := copy(b, h.content[h.at:])
	h.at += n
	return n, h.gone()
}

func (h *handle) Write(b []byte) (int, error) {
	err := h.gone()
	if err != nil {
		b = b[:h.rand.IntN(len(b)+1)]
	}
	h.content = append(h.content[:min(h.at, len(h.content))], b...)
	h.at += len(b)
	return len(b), err
}

func (h *handle) Truncate(size int64) error {
	if err := h.gone(); err != nil {
		return err
	}
	h.content, h.durable = h.content[:size], min(h.durable, int(size))
	return nil
}

func (h *handle) Seek(offset int64, _ int) (int64, error) {
	h.at = int(offset)
	return offset, h.gone()
}

func (h *handle) Sync() error {
	if err := h.gone(); err != nil {
		clear(h.content[h.durable:])
		return err
	}
	h.durable = len(h.content)
	return nil
}

func (h *handle) Close() error { return h.gone() }

// Whatever a disk does in the meantime, when it works again the journal holds every line once and
// in order, on the disk and not only in memory.
func TestAJournalOutlivesItsDisksFaults(t *testing.T) {
	faults, root := 0, opened(t, t.TempDir())
	for seed := range uint64(300) {
		w := &weather{rand: rand.New(rand.NewPCG(seed, 0))}
		f := newFolder(root, free{}, nil)
		f.reopen = func() (journalFile, error) {
			if err := w.fails(); err != nil {
				return nil, err
			}
			return &handle{weather: w}, nil
		}
		f.journal = &handle{weather: w}
		var want bytes.Buffer
		for step := range 30 {
			line := Line{Type: "note", Step: step, Member: NoMember, Body: map[string]string{"text": strings.Repeat("x", w.rand.IntN(20))}}
			for err := f.Append(line); err != nil; err = f.Append(line) {
				if faults++; strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "write journal "+root.Name()+"/events.jsonl: ") {
					t.Fatal(err)
				}
			}
			text, _ := line.MarshalJSON()
			want.Write(append(text, '\n'))
			if w.rand.IntN(4) == 0 && f.Sync() == nil && !bytes.Equal(w.content[:w.durable], want.Bytes()) {
				t.Fatalf("seed %d: synced, and on the disk is\n%s\nwant\n%s", seed, w.content[:w.durable], want.Bytes())
			}
		}
		for f.Sync() != nil {
			faults++
		}
		if !bytes.Equal(w.content[:w.durable], want.Bytes()) || f.Size() != int64(want.Len()) {
			t.Fatalf("seed %d: on the disk is\n%s\nwant\n%s", seed, w.content[:w.durable], want.Bytes())
		}
	}
	if faults < 1000 {
		t.Errorf("only %d faults", faults)
	}
}

// A real file whose descriptor was closed under the journal is opened again; a file that another
// process has changed meanwhile is not written to.
func TestAJournalIsOpenedAgain(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.lock.Close()
	lose := func() { f.journal.(*files.File).Close() }
	note := func(step int) error { return f.Append(Line{Type: "note", Step: step, Member: NoMember}) }
	if err := note(1); err != nil {
		t.Fatal(err)
	}
	lose()
	if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("sync: %v", err)
	}
	if err := note(2); err != nil {
		t.Error(err)
	}
	lose()
	if err := note(3); !errors.Is(err, fs.ErrClosed) || IsFull(err) {
		t.Errorf("append: %v", err)
	}
	if err := errors.Join(note(3), f.Sync()); err != nil {
		t.Error(err)
	}
	path := f.Path(JournalName)
	text, err := os.ReadFile(path)
	if want := "{\"type\":\"note\",\"step\":1,\"wall_s\":0.000}\n"; err != nil || string(text) != want+strings.ReplaceAll(want, "1", "2")+strings.ReplaceAll(want, "1", "3") {
		t.Fatalf("%s, %v", text, err)
	}
	for want, damaged := range map[string]string{
		"10 bytes of it are left of " + fmt.Sprint(len(text)) + ": another program has cut it": string(text[:10]),
		"it is not what was written: another program has changed it":                           strings.Replace(string(text), "note", "nope", 1),
	} {
		if err := os.WriteFile(path, []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		lose()
		note(4)
		if err := note(4); err == nil || err.Error() != "write journal "+path+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
		if now, _ := os.ReadFile(path); string(now) != damaged {
			t.Errorf("it was written to: %s", now)
		}
	}
	for _, e := range storms {
		if err := fmt.Errorf("write: %w", &fs.PathError{Err: e}); IsFull(err) != (e == syscall.ENOSPC || e == syscall.EDQUOT) {
			t.Errorf("%v: no room is %v", e, IsFull(err))
		}
	}
	if IsFull(syscall.EFBIG) {
		t.Error("a file that is too large does not wait for room")
	}
}

// Several goroutines sync the journal at once while it grows.
func TestSyncsRunBesideEachOther(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var syncing sync.WaitGroup
	for range 4 {
		syncing.Go(func() {
			for range 20 {
				if err := f.Sync(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for step := range 500 {
		if err := f.Append(Line{Type: "note", Step: step, Member: NoMember}); err != nil {
			t.Fatal(err)
		}
	}
	syncing.Wait()
	if err := f.Sync(); err != nil || len(f.fresh) > 0 {
		t.Errorf("%v, %d bytes are in doubt", err, len(f.fresh))
	}
}

// crowded is a file that notes whether two Syncs were in it at once. The first one begins another, and
// gives it all the time to get in.
type crowded struct {
	journalFile
	other   func()
	first   sync.Once
	inside  atomic.Int32
	crowded atomic.Bool
}

func (c *crowded) Sync() error {
	if c.inside.Add(1) > 1 {
		c.crowded.Store(true)
	}
	defer c.inside.Add(-1)
	c.first.Do(func() {
		coming := make(chan struct{})
		go func() {
			close(coming)
			c.other()
		}()
		<-coming
		for range 1000 {
			runtime.Gosched()
		}
	})
	return c.journalFile.Sync()
}

// Of two Syncs the second waits: the kernel reports an error to one of them only, and the other would
// take what is lost for written.
func TestOneSyncAtATime(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ended := make(chan error, 1)
	file := &crowded{journalFile: f.journal, other: func() { ended <- f.Sync() }}
	f.journal = file
	if err := f.Append(Line{Type: "note", Step: 1, Member: NoMember}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), <-ended); err != nil {
		t.Error(err)
	}
	if file.crowded.Load() {
		t.Error("two Syncs were in the file at once")
	}
}
