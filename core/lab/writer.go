package lab

import (
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// syncEvery is how often what was written to the journal is put on the disk.
const syncEvery = time.Second

// writer puts checkpoints on the disk, and the journal, in a goroutine of its own
// with a low priority: a slow file system stalls nobody else.
type writer struct {
	folder  *run.Folder
	most    int64 // bytes on the disk
	jobs    chan *capture
	results chan savedResult
	dirty   atomic.Bool // the journal has lines that are not on the disk
	ended   chan struct{}

	// What follows is the goroutine's.
	logs      []*run.Log
	totals    []uint64      // rows of D_real on the disk
	earlier   [][]run.Piece // D_real before its log began
	synthetic []shared
}

// shared is a D_syn that is on the disk.
type shared struct {
	ring  *replay.Ring
	piece run.Piece
}

// newWriter makes a writer for a run of that many members; start starts it.
func newWriter(folder *run.Folder, members int, most int64) *writer {
	return &writer{
		folder: folder, most: most, jobs: make(chan *capture, 1), results: make(chan savedResult, 1), ended: make(chan struct{}),
		logs: make([]*run.Log, members), totals: make([]uint64, members), earlier: make([][]run.Piece, members),
		synthetic: make([]shared, members),
	}
}

func (w *writer) loop() {
	defer close(w.ended)
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	lowerPriority()
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case c, more := <-w.jobs:
			if !more {
				w.close()
				return
			}
			w.results <- w.guarded(c)
		case <-tick.C:
			if w.dirty.Swap(false) && w.folder.Sync() != nil {
				w.dirty.Store(true) // tried again; the next line that is written says what is wrong
			}
		}
	}
}

func (w *writer) close() {
	for _, l := range w.logs {
		if l != nil {
			l.Close()
		}
	}
	w.folder.Sync()
}

// guarded is write; a panic is an error like any other.
func (w *writer) guarded(c *capture) (r savedResult) {
	defer func() {
		if p := recover(); p != nil {
			r = savedResult{capture: c, totals: append([]uint64(nil), w.totals...), err: fmt.Errorf("write checkpoint: panic: %v", p)}
		}
	}()
	return w.write(c)
}

// write puts a capture on the disk: first what it shares with others, then the
// checkpoint itself, then what has become superfluous goes.
func (w *writer) write(c *capture) savedResult {
	r := savedResult{capture: c}
	for i := range c.members {
		if r.err = w.share(c, i); r.err != nil {
			break
		}
	}
	r.totals = append([]uint64(nil), w.totals...)
	if r.err != nil {
		return r
	}
	if r.path, r.bytes, r.err = w.folder.WriteCheckpoint(&c.Checkpoint); r.err != nil {
		return r
	}
	r.err = w.folder.Prune(r.path, w.most)
	return r
}

// share writes the large parts of member i.
func (w *writer) share(c *capture, i int) (err error) {
	m := c.members[i]
	if len(m.rows) > 0 {
		if w.logs[i] == nil {
			if w.logs[i], err = w.folder.NewLog(fmt.Sprintf("real-%d", i)); err != nil {
				return err
			}
		}
		if err := w.logs[i].Append(m.rows); err != nil {
			if !run.IsFull(err) {
				w.abandon(i)
			}
			return err
		}
		w.totals[i] = m.total
	}
	pieces := append([]run.Piece(nil), w.earlier[i]...)
	if w.logs[i] != nil {
		pieces = append(pieces, w.logs[i].Piece())
	}
	c.Data = append(c.Data, run.Data{Name: fmt.Sprintf("%d/%s", i, sectionReal), Pieces: pieces})
	if m.synthetic == nil {
		return nil
	}
	if w.synthetic[i].ring != m.synthetic {
		piece, err := w.folder.WriteData("synthetic", func(out io.Writer) error { return m.synthetic.Save(out) })
		if err != nil {
			return err
		}
		w.synthetic[i] = shared{m.synthetic, piece}
	}
	c.Data = append(c.Data, run.Data{Name: fmt.Sprintf("%d/%s", i, sectionSynthetic), Pieces: []run.Piece{w.synthetic[i].piece}})
	return nil
}

// abandon ends the log of member i, which cannot be written to: what is on the disk
// stays, and the next checkpoint begins a new one.
func (w *writer) abandon(i int) {
	if p := w.logs[i].Piece(); p.Bytes > 0 {
		w.earlier[i] = append(w.earlier[i], p)
	}
	w.logs[i].Close()
	w.logs[i] = nil
}
