package lab

import (
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

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
	fresh     []shared // recipes of generations under way
}

// shared is a D_syn that is on the disk, as it is or as its recipe.
type shared struct {
	of    any // the *replay.Ring, or the *recipe of one under way
	name  string
	piece run.Piece
}

// newWriter makes a writer for a run of that many members; start starts it.
func newWriter(folder *run.Folder, members int, most int64) *writer {
	return &writer{
		folder: folder, most: most, jobs: make(chan *capture, 1), results: make(chan savedResult, 1), ended: make(chan struct{}),
		logs: make([]*run.Log, members), totals: make([]uint64, members), earlier: make([][]run.Piece, members),
		synthetic: make([]shared, members), fresh: make([]shared, members),
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
	return w.shareSynthetic(c, i)
}

// shareSynthetic writes D_syn of member i, or its recipe, once.
func (w *writer) shareSynthetic(c *capture, i int) error {
	m := c.members[i]
	if at := &w.synthetic[i]; m.synthetic != nil {
		if at.of != m.synthetic {
			write, name := m.synthetic.Save, sectionSynthetic
			if m.recipe != nil {
				write, name = m.recipe.of(m.synthetic).save, sectionSynthetic+asRecipe
			}
			if err := w.keep(at, m.synthetic, name, write); err != nil {
				return err
			}
		}
		c.Data = append(c.Data, at.data(i))
	}
	if at := &w.fresh[i]; m.freshRecipe != nil {
		if at.of != m.freshRecipe {
			if err := w.keep(at, m.freshRecipe, sectionFresh+asRecipe, m.freshRecipe.save); err != nil {
				return err
			}
		}
		c.Data = append(c.Data, at.data(i))
	}
	return nil
}

// keep writes what of is and remembers it.
func (w *writer) keep(at *shared, of any, name string, write func(io.Writer) error) error {
	piece, err := w.folder.WriteData(name, write)
	if err == nil {
		*at = shared{of, name, piece}
	}
	return err
}

// data is what a checkpoint says of it.
func (s shared) data(member int) run.Data {
	return run.Data{Name: fmt.Sprintf("%d/%s", member, s.name), Pieces: []run.Piece{s.piece}}
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
