package lab

import (
	"errors"
	"fmt"
	"time"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Saving says when checkpoints are taken, in addition to those that are asked for, those before
// changes that affect a generation or a refit, and the one at the end.
type Saving struct {
	Every time.Duration // the least time between two; 0: cost.CheckpointEvery
	Disk  int64         // most bytes of checkpoints and their data; 0: a tenth of what is free
	Lean  bool          // save only the recipe of each D_syn: a resume makes it again, which takes its time
}

const (
	// pauseAge is how old the last checkpoint may be when someone pauses.
	pauseAge = time.Minute
	// changeAge is how old the last checkpoint may be when a change is made: a person who tries out
	// values gets one checkpoint, not one for each value.
	changeAge = 10 * time.Second
	// failedAge is how long after a checkpoint that could not be written the next one is taken.
	failedAge = time.Minute
)

// The authors of checkpoints that no one asks for.
const (
	byCadence  = "cadence"
	byLastStep = "last step"
	byEnd      = "end"
)

// capture is the state of a run at one position, on its way to the disk.
type capture struct {
	run.Capture
	position knob.Position
	by       string
	begun    time.Time
	stall    time.Duration
	refs     []string // of the requests that it answers
	stays    bool     // on the disk, because of a change after it
}

// The authors of the checkpoints that stay on the disk.
const (
	byKeeping = "keep_every"
	byChange  = "change"
)

// checkpointer takes checkpoints: when one is due, it has the run copied and hands the copy to
// the writer, which compresses and writes it in a goroutine of its own. The result becomes a
// line of the journal; a full disk closes the gate. The checkpointer changes nothing in the run.
type checkpointer struct {
	common
	copyTo func(c *run.Capture, totals []uint64) error // copies the state of the run
	ahead  func(totals []uint64, bytes int) []run.LogRows
	part   int                    // bytes of rows that are handed over ahead of a checkpoint
	room   func(dir string) int64 // run.Free

	writer  *run.Writer // nil: nothing is saved
	saving  Saving
	totals  []uint64 // rows of each log that the writer has
	busy    *capture // under way; nil: none
	due     string   // the author of one to be taken as soon as the writer is free
	refs    []string // of requests that the next one answers
	asked   string   // the author of the one that failed for want of room
	refused struct { // when that was, and what was free
		free int64
		at   time.Time
	}
	failed string        // what was wrong with the last one, if it could not be written
	last   time.Time     // when the last one was taken; zero before the writer is started
	at     knob.Position // and where
	path   string        // the last one on the disk
	saved  knob.Position // and where it was taken
	kept   string        // the last one that stays because of a fault

	unchanged string     // the last one that stays because of a change after it
	pruned    run.Pruned // what the limit on the disk had cost at the last one

	lastStep lastStep
}

// begin makes w write the checkpoints.
func (k *checkpointer) begin(w *run.Writer, s Saving) {
	if s.Every == 0 {
		s.Every = cost.CheckpointEvery
	}
	if s.Disk == 0 {
		s.Disk = (run.Free(w.Folder().Dir()) + 9) / 10 // of a full disk more than 0, which is no limit
	}
	w.Keep(s.Disk)
	k.writer, k.saving, k.totals = w, s, w.Totals()
}

// lean says whether checkpoints hold only the recipe of D_syn.
func (k *checkpointer) lean() bool { return k.writer != nil && k.saving.Lean }

// start starts the writer.
func (k *checkpointer) start() {
	if k.writer != nil {
		k.last = k.now()
		k.writer.Start()
	}
}

// close waits until the writer has written everything, and closes it.
func (k *checkpointer) close() {
	if k.writer == nil || k.last.IsZero() { // it was never started
		return
	}
	if k.busy != nil {
		<-k.writer.Results()
	}
	k.writer.Close()
	k.last = time.Time{}
}

// results is where the writer reports; nil without one.
func (k *checkpointer) results() <-chan run.Written {
	if k.writer == nil {
		return nil
	}
	return k.writer.Results()
}

// written notifies the writer that the journal has new lines on the disk.
func (k *checkpointer) written() {
	if k.writer != nil {
		k.writer.Dirty()
	}
}

// consider takes a checkpoint if one is due. It is called between two slices.
func (k *checkpointer) consider() {
	if k.lastStep.marking {
		k.mark()
	}
	if k.writer == nil || k.lastStep.marking {
		return
	}
	select {
	case r := <-k.writer.Results():
		k.report(r)
	default:
	}
	if k.keepsHere() {
		k.settle() // the previous one may still be under way
		k.take(byKeeping)
		k.settle() // without room on the disk, training waits here: one of a later place would be of another step
	}
	if k.due == "" && k.now().Sub(k.last) >= k.saving.Every {
		k.due = byCadence
	}
	if k.due != "" && k.busy == nil {
		k.take(k.due)
	}
	k.extend()
}

// aheadBytes is how many bytes of frames are handed over before there is a checkpoint: few enough to
// copy them in some 10 ms. Five minutes of a fast GPU make half a gigabyte.
const aheadBytes = 32 << 20

// extend hands rows to the writer ahead of the next checkpoint, if there are many.
func (k *checkpointer) extend() {
	if k.busy != nil || !k.writer.Takes() {
		return
	}
	if rows := k.ahead(k.totals, k.part); rows != nil {
		k.writer.Extend(rows)
		for i := range rows {
			k.totals[i] = rows[i].Total
		}
	}
}

// inPause takes a checkpoint in a pause if the last one is old.
func (k *checkpointer) inPause() {
	if k.writer != nil && k.gate.gone == nil && k.at != k.place.position && k.now().Sub(k.last) >= pauseAge {
		k.take("pause")
	}
}

// here takes a checkpoint of this place, if there is none yet.
func (k *checkpointer) here(by string) {
	if k.writer != nil && k.at != k.place.position {
		k.take(by)
	}
}

// take copies the state and hands it to the writer. If the writer is busy, or the journal has a
// backlog, that happens at a later place between two slices. The error, if the state cannot be copied,
// is a line of the journal already.
func (k *checkpointer) take(by string) error {
	at := k.place.position
	if k.lastStep.onDisk(at) {
		k.due = ""
		k.answerRest(by)
		return nil
	}
	if k.busy != nil || len(k.journal.backlog) > 0 {
		k.due = by
		return nil
	}
	k.due = ""
	c, err := k.capture(by)
	if err != nil {
		k.answer(by, err.Error())
		k.last = k.now()
		return err
	}
	k.last, k.at = k.now(), at
	c.refs, k.refs = k.refs, nil
	k.submit(c)
	return nil
}

// submit hands a capture to the writer.
func (k *checkpointer) submit(c *capture) {
	k.busy = c
	k.writer.Submit(&c.Capture)
}

// capture copies the run.
func (k *checkpointer) capture(by string) (*capture, error) {
	begin, at, folder := k.now(), k.place.position, k.writer.Folder()
	c := &capture{position: at, by: by, begun: begin}
	c.Header = run.Header{
		Time: begin.UTC().Format(time.RFC3339), Step: k.place.Step, Position: at.String(), Ended: k.lastStep.passed(at),
		WallS: run.Float(k.journal.seconds(begin)), Config: folder.Config(), Journal: folder.Mark(),
	}
	err := k.copyTo(&c.Capture, k.totals)
	c.stall = k.now().Sub(begin)
	return c, err
}

// settle waits for the capture under way, if there is one.
func (k *checkpointer) settle() {
	if k.busy != nil {
		k.report(<-k.writer.Results())
	}
}

// report handles the result of the capture under way.
func (k *checkpointer) report(r run.Written) {
	c := k.busy
	k.busy, k.totals = nil, r.Totals
	obs := event.CheckpointObs{
		Path: r.Path, Position: c.position, Bytes: r.Bytes, By: c.by, Refs: c.refs,
		Seconds: run.Float(k.now().Sub(c.begun).Seconds()), StallS: run.Float(c.stall.Seconds()),
	}
	if r.Err == nil {
		k.path, k.saved, k.asked, k.failed = r.Path, c.position, "", ""
		if p := r.Pruned; p.Last != k.pruned.Last || p.Over() != k.pruned.Over() || p.Stuck != k.pruned.Stuck {
			obs.Limited = p.String()
		}
		k.pruned = r.Pruned
		if c.stays || c.by == byKeeping || c.by == byChange || c.by == byLastStep && k.keepsStep() {
			if err := k.writer.Folder().Keep(r.Path, c.by); err != nil {
				obs.Error = err.Error()
			}
			k.unchanged = r.Path
		}
		k.journal.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
		return
	}
	obs.Error = r.Err.Error()
	waits := run.IsFull(r.Err) && c.by != byEnd
	if said := waits && k.asked != "" || c.by == byCadence && obs.Error == k.failed; !said {
		k.journal.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
	} else {
		k.refs = append(c.refs, k.refs...)
	}
	k.asked, k.failed = "", obs.Error
	if waits {
		k.asked, k.refused.free, k.refused.at = c.by, k.room(k.writer.Folder().Dir()), k.now()
	}
	if waits || isForGood(r.Err) {
		k.gate.waitForDisk(r.Err)
		return
	}
	// The journal is whole, and so is the checkpoint before: training goes on.
	k.last = k.now().Add(min(failedAge, k.saving.Every) - k.saving.Every)
}

// refusedEvery is how long a checkpoint that found no room waits for more than there was: a quota that gives way does
// not show in what is free.
const refusedEvery = 5 * time.Minute

// mayFit says whether a checkpoint that found no room is worth another try. Each writes what room there is, and
// takes it from all other programs meanwhile.
func (k *checkpointer) mayFit() bool {
	return k.room(k.writer.Folder().Dir()) > k.refused.free || k.now().Sub(k.refused.at) >= refusedEvery
}

// errJournal says that there can be no checkpoint, because the lines before it are not on the disk.
var errJournal = errors.New("save run: the disk does not take the journal")

// atEnd takes the last checkpoint and waits until it is on the disk.
func (k *checkpointer) atEnd() error {
	if k.writer == nil || k.place.inSlice {
		return nil
	}
	k.settle()
	if k.lastStep.marked && k.place.position == knob.After(k.place.Step) { // the place where a longer run goes on is on the disk
		k.answerRest(byEnd)
		return k.lastStep.unsaved
	}
	if k.journal.flush(); len(k.journal.backlog) > 0 { // the disk may take it now, before anybody has looked
		return errJournal
	}
	if err := k.take(byEnd); err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	if k.busy == nil {
		return nil
	}
	r := <-k.writer.Results()
	k.report(r)
	return r.Err
}

// handOver writes a checkpoint from which another process goes on, after a line that says so. An
// error means that the run is as it was; if the line is written, another one takes it back.
func (k *checkpointer) handOver(by string) (err error) {
	switch {
	case k.writer == nil:
		return errors.New("the run has no folder")
	case k.gate.parked:
		return errParked
	}
	k.settle()
	if len(k.journal.backlog) > 0 {
		return errJournal
	}
	k.journal.emit(event.TypeDetached, event.NoMember, event.View{By: by, Reason: event.HandedOver})
	defer func() {
		if err != nil {
			k.journal.emit(event.TypeAttached, event.NoMember, event.View{By: by, Reason: "the run stays"})
		}
	}()
	if len(k.journal.backlog) > 0 {
		return errJournal
	}
	if k.lastStep.onDisk(k.place.position) {
		return nil
	}
	copied, err := k.capture(event.HandedOver)
	if err != nil {
		return err
	}
	k.last = k.now()
	k.submit(copied)
	r := <-k.writer.Results()
	if r.Err != nil {
		k.report(r)
		return r.Err
	}
	k.busy, k.totals, k.path, k.saved, k.at = nil, r.Totals, r.Path, copied.position, copied.position
	return nil
}
