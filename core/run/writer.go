package run

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// syncEvery is how often what was written to the journal is put on the disk.
const syncEvery = time.Second

// Capture is the state of a run at one place, copied in memory, on its way to the disk.
type Capture struct {
	Checkpoint
	Logs   []LogRows // of each log of the Writer
	Shared []Shared
}

// LogRows are what a log has grown by; checkpoints share the log itself.
type LogRows struct {
	Name  string // of the log's data in the checkpoint
	File  string // how the names of its files begin
	New   NewLog // begins a file
	Rows  []byte // that are not on the disk yet
	Total uint64 // rows that were ever added
}

// NewLog begins a file of a log: (*Folder).NewLog or (*Folder).NewPackedLog.
type NewLog func(f *Folder, name string) (*Log, error)

// Shared is data that several checkpoints have in common and that is written once.
type Shared struct {
	Slot  string // what it is one of: another Of in its slot takes its place
	Of    any    // what it is made of, for comparison
	Name  string // in the checkpoint
	File  string // how the name of its file begins
	Write func(io.Writer) error
}

// Written is what became of a capture.
type Written struct {
	*Capture
	Path   string
	Bytes  int64
	Totals []uint64 // rows of each log that are on the disk
	Err    error
}

// Writer puts checkpoints on the disk, and the journal, in a goroutine of its own with a
// low priority: a slow file system stalls nothing else. One capture is under way at a
// time.
type Writer struct {
	folder  *Folder
	limit   int64 // bytes on the disk
	jobs    chan *Capture
	results chan Written
	dirty   atomic.Bool // the journal has lines that are not on the disk
	ended   chan struct{}

	// What follows is the goroutine's.
	logs    []*Log
	totals  []uint64  // rows of each log on the disk
	earlier [][]Piece // of each log, before its file began
	shared  map[string]writtenShared
}

// writtenShared is what is on the disk of a slot.
type writtenShared struct {
	of    any
	piece Piece
}

// NewWriter makes a writer for a run with so many logs; Start sets it going.
func NewWriter(folder *Folder, logs int) *Writer {
	return &Writer{
		folder: folder, jobs: make(chan *Capture, 1), results: make(chan Written, 1), ended: make(chan struct{}),
		logs: make([]*Log, logs), totals: make([]uint64, logs), earlier: make([][]Piece, logs), shared: map[string]writtenShared{},
	}
}

// Folder is where it writes.
func (w *Writer) Folder() *Folder { return w.folder }

// Keep bounds what checkpoints and their data may take on the disk, in bytes. It is
// called before Start.
func (w *Writer) Keep(limit int64) { w.limit = limit }

// InheritLog says that pieces of a log are on the disk already: total rows. It is called
// before Start, as is InheritShared.
func (w *Writer) InheritLog(log int, pieces []Piece, total uint64) {
	w.earlier[log], w.totals[log] = pieces, total
}

// InheritShared says that data made of something is on the disk already.
func (w *Writer) InheritShared(slot string, of any, piece Piece) {
	w.shared[slot] = writtenShared{of, piece}
}

// Totals are the rows of each log that are on the disk. It is for the time before Start;
// later Written has them.
func (w *Writer) Totals() []uint64 { return slices.Clone(w.totals) }

// Dirty says that the journal has lines that are not on the disk yet.
func (w *Writer) Dirty() { w.dirty.Store(true) }

// Start sets the goroutine going.
func (w *Writer) Start() { go w.loop() }

// Submit hands over a capture; what became of it comes out of Results. Another one may
// be submitted only then.
func (w *Writer) Submit(c *Capture) { w.jobs <- c }

// Results is where the writer reports.
func (w *Writer) Results() <-chan Written { return w.results }

// Close ends the goroutine when it has written what was submitted, and waits for it.
func (w *Writer) Close() {
	close(w.jobs)
	<-w.ended
}

func (w *Writer) loop() {
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

func (w *Writer) close() {
	for _, l := range w.logs {
		if l != nil {
			l.Close()
		}
	}
	w.folder.Sync()
}

// guarded is Write; a panic is an error like any other.
func (w *Writer) guarded(c *Capture) (r Written) {
	defer func() {
		if p := recover(); p != nil {
			r = Written{Capture: c, Totals: w.Totals(), Err: fmt.Errorf("write checkpoint: panic: %v", p)}
		}
	}()
	return w.Write(c)
}

// Write puts a capture on the disk: first what it shares with others, then the
// checkpoint itself, then what has become superfluous goes. It is for the time before
// Start.
func (w *Writer) Write(c *Capture) Written {
	r := Written{Capture: c}
	for i := range c.Logs {
		if r.Err = w.writeLog(c, i); r.Err != nil {
			break
		}
	}
	for i := 0; i < len(c.Shared) && r.Err == nil; i++ {
		r.Err = w.writeShared(c, &c.Shared[i])
	}
	r.Totals = w.Totals()
	if r.Err != nil {
		return r
	}
	if r.Path, r.Bytes, r.Err = w.folder.WriteCheckpoint(&c.Checkpoint); r.Err != nil {
		return r
	}
	r.Err = w.folder.Prune(r.Path, w.limit)
	return r
}

// writeLog appends to log i what it has grown by.
func (w *Writer) writeLog(c *Capture, i int) (err error) {
	l := c.Logs[i]
	if len(l.Rows) > 0 {
		if w.logs[i] == nil {
			if w.logs[i], err = l.New(w.folder, l.File); err != nil {
				return err
			}
		}
		if err := w.logs[i].Append(l.Rows); err != nil {
			if !IsFull(err) {
				w.abandon(i)
			}
			return err
		}
		w.totals[i] = l.Total
	}
	pieces := slices.Clone(w.earlier[i])
	if w.logs[i] != nil {
		pieces = append(pieces, w.logs[i].Piece())
	}
	c.Data = append(c.Data, Data{Name: l.Name, Pieces: pieces})
	return nil
}

// writeShared writes data that is not on the disk yet.
func (w *Writer) writeShared(c *Capture, s *Shared) error {
	at, there := w.shared[s.Slot]
	if !there || at.of != s.Of {
		piece, err := w.folder.WriteData(s.File, s.Write)
		if err != nil {
			return err
		}
		at = writtenShared{s.Of, piece}
		w.shared[s.Slot] = at
	}
	c.Data = append(c.Data, Data{Name: s.Name, Pieces: []Piece{at.piece}})
	return nil
}

// abandon ends log i, which cannot be written to: what is on the disk stays, and the
// next checkpoint begins a new file.
func (w *Writer) abandon(i int) {
	if p := w.logs[i].Piece(); p.Bytes > 0 {
		w.earlier[i] = append(w.earlier[i], p)
	}
	w.logs[i].Close()
	w.logs[i] = nil
}
