package lab

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// Saving says when checkpoints are taken, beside those that are asked for, those
// before changes of a generation or a refit, and the one at the end.
type Saving struct {
	Every time.Duration // the least time between two; 0: DefaultEvery
	Disk  int64         // most bytes of checkpoints and their data; 0: a tenth of what is free
	Lean  bool          // of each D_syn only its recipe: a resume makes it again, which takes its time
}

// DefaultEvery is the time between two checkpoints.
const DefaultEvery = 5 * time.Minute

const (
	// pauseAge is how old the last checkpoint may be when somebody pauses.
	pauseAge = time.Minute
	// changeAge is how old it may be when a change of a generation or a refit is
	// made: a person who tries out values gets one, not one for each.
	changeAge = 10 * time.Second
	// failedAge is how long after one that could not be written the next is taken.
	failedAge = time.Minute
)

// Who takes the checkpoints that nobody asks for.
const (
	byCadence  = "cadence"
	byLastStep = "last step"
	byEnd      = "end"
)

// capture is the state of a run at one position, copied in memory.
type capture struct {
	run.Checkpoint
	position knob.Position
	by       string
	begun    time.Time
	stall    time.Duration
	members  []captured
}

// captured are the large parts of a member: they go into files that checkpoints
// share.
type captured struct {
	rows      []byte // of D_real that are not on the disk yet
	total     uint64 // rows of D_real ever added
	synthetic *replay.Ring

	recipe, freshRecipe *recipe // instead of D_syn and of the one being generated; nil: as they are
}

// savedResult is what became of a capture.
type savedResult struct {
	*capture
	path   string
	bytes  int64
	totals []uint64 // rows of each member's D_real that are on the disk
	err    error
}

// keeper takes checkpoints: the training goroutine captures, a writer of its own
// compresses and writes. All fields are the training goroutine's.
type keeper struct {
	writer *writer
	saving Saving
	totals []uint64 // rows of each member's D_real that are on the disk
	busy   bool
	due    string        // who wants one as soon as the writer is free
	asked  string        // who asked for the one that failed for want of room
	failed string        // what was wrong with the last one, if it could not be written
	last   time.Time     // when the last one was taken
	at     knob.Position // and where
	path   string        // the last one on the disk
	saved  knob.Position // and where it was taken
	marked string        // the last one that stays because of a fault
}

// consider takes a checkpoint if one is due. It is called between two slices.
func (x *experiment) consider() {
	if x.marking {
		x.mark()
	}
	k := x.keeper
	if k == nil || x.marking {
		return
	}
	select {
	case r := <-k.writer.results:
		x.kept(r)
	default:
	}
	if x.keepsHere() {
		if k.busy { // the one before is still being written
			x.kept(<-k.writer.results)
		}
		k.due = byKeeping
	}
	if k.due == "" && x.now().Sub(k.last) >= k.saving.Every {
		k.due = byCadence
	}
	if k.due != "" && !k.busy {
		x.take(k.due)
	}
}

// byKeeping takes the checkpoints that stay.
const byKeeping = "keep_every"

// keepsHere says whether a checkpoint of this place is to stay on the disk.
func (x *experiment) keepsHere() bool {
	return x.keepsStep() && x.position == knob.After(x.Step) && x.keeper.at != x.position && !x.marked
}

// keepsStep says whether a checkpoint of this env step is to stay on the disk.
func (x *experiment) keepsStep() bool {
	every := x.config.Evaluation.KeepEvery
	return every > 0 && x.Step > 0 && x.Step%every == 0
}

// savePaused takes a checkpoint in a pause if the last one is old.
func (x *experiment) savePaused() {
	if k := x.keeper; k != nil && x.gone == nil && k.at != x.position && x.now().Sub(k.last) >= pauseAge {
		x.take("pause")
	}
}

// saveBefore takes a checkpoint before a change that a generation or a refit
// depends on, so that one can come back to what was before.
func (x *experiment) saveBefore(class knob.Class) {
	k := x.keeper
	if k != nil && (class == knob.ClassGeneration || class == knob.ClassRefit) && !k.busy && x.now().Sub(k.last) >= changeAge {
		x.take("change")
	}
}

// take copies the state and hands it to the writer; where that is busy, it does so
// at the first place between two slices at which it is not.
func (x *experiment) take(by string) {
	k := x.keeper
	if x.onDisk() {
		k.due = ""
		return
	}
	if k.busy || len(x.journal.backlog) > 0 {
		k.due = by
		return
	}
	k.due = ""
	c, err := x.capture(by)
	if err != nil {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: event.CheckpointObs{Position: x.position, By: by, Error: err.Error()}})
		k.last = x.now()
		return
	}
	k.busy, k.last, k.at = true, x.now(), x.position
	k.writer.jobs <- c
}

// capture copies what the run is.
func (x *experiment) capture(by string) (*capture, error) {
	for _, m := range x.members {
		if m.failed != nil {
			return nil, fmt.Errorf("save run: its environment has failed: %w", m.failed)
		}
	}
	begin := x.now()
	c := &capture{position: x.position, by: by, begun: begin}
	c.Header = run.Header{
		Program: x.version, Device: x.kernels(), Time: begin.UTC().Format(time.RFC3339), Step: x.Step,
		Position: x.position.String(), Ended: x.ended(), WallS: run.Float(x.journal.seconds(begin)), Return: x.lastReturn(), Config: x.keeper.writer.folder.Config(),
		Journal: x.keeper.writer.folder.Mark(),
	}
	shared := map[string]func(io.Writer) error{}
	for i, m := range x.members {
		state := m.real.State()
		shared[m.named(sectionReal)] = func(w io.Writer) error { return gob.NewEncoder(w).Encode(state) }
		shared[m.named(sectionSynthetic)] = nil
		if m.freshRecipe != nil {
			shared[m.named(sectionFresh)] = nil
		}
		c.members = append(c.members, captured{
			rows: m.real.AppendSince(nil, x.keeper.totals[i]), total: m.real.Total(), synthetic: m.synthetic,
			recipe: m.recipe, freshRecipe: m.freshRecipe,
		})
	}
	err := x.saveSections(func(name string, save func(io.Writer) error) error {
		if instead, is := shared[name]; is {
			if save = instead; save == nil {
				return nil
			}
		}
		var b bytes.Buffer
		err := save(&b)
		c.Sections = append(c.Sections, run.Section{Name: name, Content: b.Bytes()})
		return err
	})
	c.stall = x.now().Sub(begin)
	return c, err
}

// lastReturn is the mean of the members' last evaluations; nil before the first.
func (x *experiment) lastReturn() *run.Float {
	var mean run.Float
	for _, m := range x.members {
		if m.LastReturn == nil {
			return nil
		}
		mean += run.Float(*m.LastReturn / float64(len(x.members)))
	}
	return &mean
}

// newKeeper makes the keeper of a run that begins now.
func newKeeper(w *writer, s Saving) *keeper {
	if s.Every == 0 {
		s.Every = DefaultEvery
	}
	if s.Disk == 0 {
		s.Disk = run.Free(w.folder.Dir()) / 10
	}
	w.most = s.Disk
	return &keeper{writer: w, saving: s, totals: make([]uint64, len(w.totals))}
}

// startKeeping sets the writer going.
func (x *experiment) startKeeping() {
	if k := x.keeper; k != nil {
		k.last = x.now()
		go k.writer.loop()
	}
}

// endKeeping waits until nothing is written any more.
func (x *experiment) endKeeping() {
	k := x.keeper
	if k == nil || k.last.IsZero() { // it was never set going
		return
	}
	if k.busy {
		<-k.writer.results
	}
	close(k.writer.jobs)
	<-k.writer.ended
	k.last = time.Time{}
}

// results is where the writer reports; nil without one.
func (x *experiment) results() <-chan savedResult {
	if x.keeper == nil {
		return nil
	}
	return x.keeper.writer.results
}

// named is the name of a section of the member.
func (m *member) named(part string) string { return fmt.Sprintf("%d/%s", m.index, part) }

// kernels is the device without its number of threads, which is no part of the
// numbers.
func (x *experiment) kernels() string {
	name, _, _ := strings.Cut(x.device, ",")
	return name
}

// kept hears what became of a capture.
func (x *experiment) kept(r savedResult) {
	k := x.keeper
	k.busy, k.totals = false, r.totals
	obs := event.CheckpointObs{
		Path: r.path, Position: r.position, Bytes: r.bytes, By: r.by,
		Seconds: run.Float(x.now().Sub(r.begun).Seconds()), StallS: run.Float(r.stall.Seconds()),
	}
	if r.err == nil {
		k.path, k.saved, k.asked, k.failed = r.path, r.position, "", ""
		if r.by == byKeeping || r.by == byLastStep && x.keepsStep() {
			if err := run.Keep(r.path, byKeeping); err != nil {
				obs.Error = err.Error()
			}
		}
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
		return
	}
	obs.Error = r.err.Error()
	waits := run.IsFull(r.err) && r.by != byEnd
	if said := waits && k.asked != "" || r.by == byCadence && obs.Error == k.failed; !said {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
	}
	k.asked, k.failed = "", obs.Error
	if waits {
		k.asked = r.by
		x.waitForDisk(r.err)
		return
	}
	// The journal is whole, and so is the checkpoint before: training goes on.
	k.last = x.now().Add(min(failedAge, k.saving.Every) - k.saving.Every)
}

// askedToSave takes a checkpoint because somebody wants one.
func (x *experiment) askedToSave(c event.Checkpoint) {
	by := c.By
	if by == "" {
		by = "command"
	}
	if x.keeper == nil {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: event.CheckpointObs{Position: x.position, By: by, Error: "the run has no folder"}})
		return
	}
	if k := x.keeper; x.onDisk() {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: event.CheckpointObs{Path: k.path, Position: k.saved, By: by}})
		return
	}
	x.take(by)
}

// keepEnd takes the last checkpoint and waits until it is on the disk.
func (x *experiment) keepEnd() error {
	k := x.keeper
	if k == nil || x.inSlice {
		return nil
	}
	if k.busy {
		x.kept(<-k.writer.results)
	}
	if x.marked && x.position == knob.After(x.Step) { // where a longer run goes on is on the disk
		return x.unsaved
	}
	x.take(byEnd)
	if !k.busy {
		return nil
	}
	r := <-k.writer.results
	x.kept(r)
	return r.err
}
