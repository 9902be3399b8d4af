package run

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// syncEvery is how often the journal is put on the disk.
const syncEvery = time.Second

// Capture is the state of a run at one place, copied in memory, on its way to the disk.
type Capture struct {
	Checkpoint
	Logs   []LogRows // one for each log of the Writer
	Shared []Shared
}

// LogRows holds the rows by which a log has grown; checkpoints share the log itself.
type LogRows struct {
	Name  string // name of the log's data in the checkpoint
	File  string // prefix of the names of its files
	New   NewLog // begins a file
	Rows  []byte // rows that the writer does not have yet
	After uint64 // number of rows that were added before Rows
	Total uint64 // number of rows that were ever added
	First uint64 // the first row that a checkpoint of now needs; those before it need not stay
}

// NewLog begins a file of a log: (*Folder).NewLog or (*Folder).NewPackedLog.
type NewLog func(f *Folder, name string) (*Log, error)

// Shared is data that several checkpoints have in common and that is written once.
type Shared struct {
	Slot  string // data in a slot is replaced when its Of changes
	Of    any    // identifies the source of the data, for comparison
	Name  string // name in the checkpoint
	File  string // prefix of the name of its file
	Write func(io.Writer) error
}

// Written is the result of writing a capture.
type Written struct {
	*Capture
	Path   string
	Bytes  int64
	Totals []uint64 // number of rows of each log that are on the disk
	Pruned Pruned   // what the limit on the disk has cost, and what could not be removed
	Err    error
}

// Writer puts checkpoints and the journal on the disk in a goroutine of its own with a low
// priority, so that a slow file system stalls nothing else. One capture is written at a
// time.
type Writer struct {
	folder  *Folder
	limit   int64 // bytes on the disk
	piece   int64 // bytes on the disk after which a log goes on in a new file
	jobs    chan job
	results chan Written
	dirty   atomic.Bool // the journal has lines that are not on the disk
	ended   chan struct{}

	// The fields below belong to the goroutine.
	logs    []*Log
	totals  []uint64  // number of rows of each log on the disk
	earlier [][]Piece // pieces of each log from before its present file
	shared  map[string]writtenShared
	failed  error // why rows that were handed over by Extend are not on the disk
}

// job is a capture, or the rows of an Extend.
type job struct {
	capture *Capture
	logs    []LogRows
}

// writtenShared is the data of a slot that is on the disk.
type writtenShared struct {
	of    any
	piece Piece
}

// PieceBytes is how long a file of a log becomes on the disk, not counting what is added last. Rows that
// are no longer needed leave the disk file by file.
const PieceBytes = 64 << 20

// NewWriter makes a writer for a run with the given number of logs. Start sets it going.
func NewWriter(folder *Folder, logs int) *Writer {
	return &Writer{
		folder: folder, piece: PieceBytes, jobs: make(chan job, 2), results: make(chan Written, 1), ended: make(chan struct{}),
		logs: make([]*Log, logs), totals: make([]uint64, logs), earlier: make([][]Piece, logs), shared: map[string]writtenShared{},
	}
}

// Folder is the run folder to which w writes.
func (w *Writer) Folder() *Folder { return w.folder }

// Keep limits the bytes that checkpoints and their data may take on the disk. It must be
// called before Start.
func (w *Writer) Keep(limit int64) { w.limit = limit }

// Divide makes the files of logs at most that long, instead of PieceBytes. It must be called before Start.
func (w *Writer) Divide(bytes int64) { w.piece = bytes }

// InheritLog says that pieces of a log, total rows in all, are on the disk already. It must
// be called before Start, and so must InheritShared.
func (w *Writer) InheritLog(log int, pieces []Piece, total uint64) {
	w.earlier[log], w.totals[log] = slices.Clone(pieces), total
	for i := range w.earlier[log] {
		if p := &w.earlier[log][i]; p.End == 0 { // written by a version that did not say: no row is later
			p.End = total
		}
	}
}

// InheritShared says that the data made from of is on the disk already.
func (w *Writer) InheritShared(slot string, of any, piece Piece) {
	w.shared[slot] = writtenShared{of, piece}
}

// Totals returns the number of rows of each log that are on the disk. It may be called only
// before Start; afterwards Written has them.
func (w *Writer) Totals() []uint64 { return slices.Clone(w.totals) }

// Dirty says that the journal has lines that are not on the disk yet.
func (w *Writer) Dirty() { w.dirty.Store(true) }

// Start sets the goroutine going.
func (w *Writer) Start() { go w.loop() }

// Submit hands over a capture. Its result arrives on Results; only then may another one be
// submitted.
func (w *Writer) Submit(c *Capture) { w.jobs <- job{capture: c} }

// Takes says whether Extend may be called: the writer has begun with all that it was given.
func (w *Writer) Takes() bool { return len(w.jobs) == 0 }

// Extend hands over rows of all logs ahead of the capture that will need them, so that there are fewer
// to copy then. There must be no capture under way, and Takes must be true. There is no result: if the
// rows cannot be written, the next capture fails for the same reason, and its result says which rows
// are on the disk.
func (w *Writer) Extend(logs []LogRows) { w.jobs <- job{logs: logs} }

// Results is the channel on which the writer reports.
func (w *Writer) Results() <-chan Written { return w.results }

// Close ends the goroutine after it has written what was submitted, and waits for it.
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
		case j, more := <-w.jobs:
			switch {
			case !more:
				w.close()
				return
			case j.capture == nil:
				w.failed = w.extend(j.logs)
			default:
				w.results <- w.guarded(j.capture)
			}
		case <-tick.C:
			if w.dirty.Swap(false) && w.folder.Sync() != nil {
				w.dirty.Store(true) // try again; the next line that is written reports the error
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

// extend appends rows to the logs.
func (w *Writer) extend(logs []LogRows) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("write data ahead of a checkpoint: panic: %v", p)
		}
	}()
	for i, l := range logs {
		if err := w.append(i, l); err != nil {
			return err
		}
	}
	return nil
}

// guarded is Write with a panic turned into an error.
func (w *Writer) guarded(c *Capture) (r Written) {
	defer func() {
		if p := recover(); p != nil {
			r = Written{Capture: c, Totals: w.Totals(), Err: fmt.Errorf("write checkpoint: panic: %v", p)}
		}
	}()
	return w.Write(c)
}

// Write puts a capture on the disk: first the data that it shares with others, then the
// checkpoint itself. Then it removes what is no longer needed. Callers may use it only
// before Start.
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
	var stuck error // no fault of the checkpoint, which is on the disk
	if r.Pruned, stuck = w.folder.Prune(r.Path, w.limit); stuck != nil {
		r.Pruned.Stuck = stuck.Error()
	}
	return r
}

// writeLog appends the new rows of log i.
func (w *Writer) writeLog(c *Capture, i int) error {
	l := c.Logs[i]
	if err := w.append(i, l); err != nil {
		return err
	}
	w.earlier[i] = slices.DeleteFunc(w.earlier[i], func(p Piece) bool { return p.End <= l.First })
	pieces := slices.Clone(w.earlier[i])
	if w.logs[i] != nil { // whatever is in it: a file to which no checkpoint refers is removed
		pieces = append(pieces, w.pieceOf(i))
	}
	c.Data = append(c.Data, Data{Name: l.Name, Pieces: pieces})
	return nil
}

// append appends rows to log i. Rows after others that could not be written are refused.
func (w *Writer) append(i int, l LogRows) (err error) {
	if l.After > w.totals[i] {
		return w.failed
	}
	if len(l.Rows) == 0 {
		return nil
	}
	if w.logs[i] != nil && w.logs[i].length >= w.piece {
		w.end(i)
	}
	if w.logs[i] == nil {
		if w.logs[i], err = l.New(w.folder, l.File); err != nil {
			return err
		}
	}
	if err := w.logs[i].Append(l.Rows); err != nil {
		if !IsFull(err) {
			w.end(i)
		}
		return err
	}
	w.totals[i] = l.Total
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

// pieceOf describes the present file of log i.
func (w *Writer) pieceOf(i int) Piece {
	p := w.logs[i].Piece()
	p.End = w.totals[i]
	return p
}

// end ends the present file of log i. Its rows stay, and the next ones begin a new file.
func (w *Writer) end(i int) {
	if p := w.pieceOf(i); p.Bytes > 0 {
		w.earlier[i] = append(w.earlier[i], p)
	}
	w.logs[i].Close()
	w.logs[i] = nil
}
