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

// capture is the state of a run at one position, on its way to the disk.
type capture struct {
	run.Capture
	position knob.Position
	by       string
	begun    time.Time
	stall    time.Duration
}

// checkpointer takes checkpoints: the training goroutine captures, a writer of its own
// compresses and writes. All fields are the training goroutine's.
type checkpointer struct {
	writer *run.Writer
	saving Saving
	totals []uint64      // rows of each member's D_real that are on the disk
	busy   *capture      // under way; nil: none
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
	k := x.checkpoints
	if k == nil || x.marking {
		return
	}
	select {
	case r := <-k.writer.Results():
		x.saved(r)
	default:
	}
	if x.keepsHere() {
		if k.busy != nil { // the one before is still being written
			x.saved(<-k.writer.Results())
		}
		k.due = byKeeping
	}
	if k.due == "" && x.now().Sub(k.last) >= k.saving.Every {
		k.due = byCadence
	}
	if k.due != "" && k.busy == nil {
		x.checkpoint(k.due)
	}
}

// byKeeping takes the checkpoints that stay.
const byKeeping = "keep_every"

// keepsHere says whether a checkpoint of this place is to stay on the disk.
func (x *experiment) keepsHere() bool {
	return x.keepsStep() && x.position == knob.After(x.Step) && x.checkpoints.at != x.position && !x.marked
}

// keepsStep says whether a checkpoint of this env step is to stay on the disk.
func (x *experiment) keepsStep() bool {
	every := x.config.Evaluation.KeepEvery
	return every > 0 && x.Step > 0 && x.Step%every == 0
}

// savePaused takes a checkpoint in a pause if the last one is old.
func (x *experiment) savePaused() {
	if k := x.checkpoints; k != nil && x.gate.gone == nil && k.at != x.position && x.now().Sub(k.last) >= pauseAge {
		x.checkpoint("pause")
	}
}

// saveBefore takes a checkpoint before a change that a generation or a refit
// depends on, so that one can come back to what was before.
func (x *experiment) saveBefore(class knob.Class) {
	k := x.checkpoints
	if k != nil && (class == knob.ClassGeneration || class == knob.ClassRefit) && k.busy == nil && x.now().Sub(k.last) >= changeAge {
		x.checkpoint("change")
	}
}

// checkpoint copies the state and hands it to the writer; where that is busy, it does so
// at the first place between two slices at which it is not.
func (x *experiment) checkpoint(by string) {
	k := x.checkpoints
	if x.onDisk() {
		k.due = ""
		return
	}
	if k.busy != nil || len(x.journal.backlog) > 0 {
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
	k.last, k.at = x.now(), x.position
	k.submit(c)
}

// capture copies what the run is.
func (x *experiment) capture(by string) (*capture, error) {
	for _, m := range x.members {
		if err := m.failed(); err != nil {
			return nil, fmt.Errorf("save run: its environment has failed: %w", err)
		}
	}
	begin := x.now()
	c := &capture{position: x.position, by: by, begun: begin}
	c.Header = run.Header{
		Program: x.version, Device: x.kernels(), Time: begin.UTC().Format(time.RFC3339), Step: x.Step,
		Position: x.position.String(), Ended: x.ended(), WallS: run.Float(x.journal.seconds(begin)), Return: x.lastReturn(), Config: x.checkpoints.writer.Folder().Config(),
		Journal: x.checkpoints.writer.Folder().Mark(),
	}
	instead := map[string]func(io.Writer) error{} // of large parts
	for i, m := range x.members {
		state := m.real.State()
		instead[m.named(sectionReal)] = func(w io.Writer) error { return gob.NewEncoder(w).Encode(state) }
		instead[m.named(sectionSynthetic)] = nil
		if m.freshRebuild != nil {
			instead[m.named(sectionFresh)] = nil
		}
		c.Logs = append(c.Logs, run.LogRows{
			Name: m.named(sectionReal), Rows: m.real.AppendSince(nil, x.checkpoints.totals[i]), Total: m.real.Total(),
		})
		c.Shared = append(c.Shared, m.shared()...)
	}
	err := x.saveSections(func(name string, save func(io.Writer) error) error {
		if other, is := instead[name]; is {
			if save = other; save == nil {
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

// shared are the large parts of a member that checkpoints share, beside D_real: D_syn as
// it is or as its recipe, and the recipe of the one being generated.
func (m *member) shared() (all []run.Shared) {
	if made := m.synthetic; made != nil {
		s := run.Shared{Slot: m.named(sectionSynthetic), Of: made, Name: m.named(sectionSynthetic), File: sectionSynthetic, Write: made.Save}
		if spec := m.rebuild; spec != nil {
			s.Name, s.File = s.Name+rebuildSuffix, s.File+rebuildSuffix
			s.Write = func(w io.Writer) error { return spec.of(made).save(w) }
		}
		all = append(all, s)
	}
	if spec := m.freshRebuild; spec != nil {
		name := sectionFresh + rebuildSuffix
		all = append(all, run.Shared{Slot: m.named(sectionFresh), Of: spec, Name: m.named(name), File: name, Write: spec.save})
	}
	return all
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

// submit hands a capture to the writer.
func (k *checkpointer) submit(c *capture) {
	k.busy = c
	k.writer.Submit(&c.Capture)
}

// newCheckpointer makes the checkpointer of a run that begins now.
func newCheckpointer(w *run.Writer, s Saving) *checkpointer {
	if s.Every == 0 {
		s.Every = DefaultEvery
	}
	if s.Disk == 0 {
		s.Disk = run.Free(w.Folder().Dir()) / 10
	}
	w.Keep(s.Disk)
	return &checkpointer{writer: w, saving: s, totals: make([]uint64, len(w.Totals()))}
}

// startSaving sets the writer going.
func (x *experiment) startSaving() {
	if k := x.checkpoints; k != nil {
		k.last = x.now()
		k.writer.Start()
	}
}

// endSaving waits until nothing is written any more.
func (x *experiment) endSaving() {
	k := x.checkpoints
	if k == nil || k.last.IsZero() { // it was never set going
		return
	}
	if k.busy != nil {
		<-k.writer.Results()
	}
	k.writer.Close()
	k.last = time.Time{}
}

// results is where the writer reports; nil without one.
func (x *experiment) results() <-chan run.Written {
	if x.checkpoints == nil {
		return nil
	}
	return x.checkpoints.writer.Results()
}

// named is the name of a section of the member.
func (m *member) named(part string) string { return fmt.Sprintf("%d/%s", m.index, part) }

// kernels is the device without its number of threads, which is no part of the
// numbers.
func (x *experiment) kernels() string {
	name, _, _ := strings.Cut(x.device, ",")
	return name
}

// saved hears what became of the capture under way.
func (x *experiment) saved(r run.Written) {
	k := x.checkpoints
	c := k.busy
	k.busy, k.totals = nil, r.Totals
	obs := event.CheckpointObs{
		Path: r.Path, Position: c.position, Bytes: r.Bytes, By: c.by,
		Seconds: run.Float(x.now().Sub(c.begun).Seconds()), StallS: run.Float(c.stall.Seconds()),
	}
	if r.Err == nil {
		k.path, k.saved, k.asked, k.failed = r.Path, c.position, "", ""
		if c.by == byKeeping || c.by == byLastStep && x.keepsStep() {
			if err := run.Keep(r.Path, byKeeping); err != nil {
				obs.Error = err.Error()
			}
		}
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
		return
	}
	obs.Error = r.Err.Error()
	waits := run.IsFull(r.Err) && c.by != byEnd
	if said := waits && k.asked != "" || c.by == byCadence && obs.Error == k.failed; !said {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: obs})
	}
	k.asked, k.failed = "", obs.Error
	if waits {
		k.asked = c.by
		x.gate.waitForDisk(r.Err)
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
	if x.checkpoints == nil {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: event.CheckpointObs{Position: x.position, By: by, Error: "the run has no folder"}})
		return
	}
	if k := x.checkpoints; x.onDisk() {
		x.emit(event.TypeCheckpoint, event.NoMember, event.Checkpointed{Obs: event.CheckpointObs{Path: k.path, Position: k.saved, By: by}})
		return
	}
	x.checkpoint(by)
}

// checkpointEnd takes the last checkpoint and waits until it is on the disk.
func (x *experiment) checkpointEnd() error {
	k := x.checkpoints
	if k == nil || x.inSlice {
		return nil
	}
	if k.busy != nil {
		x.saved(<-k.writer.Results())
	}
	if x.marked && x.position == knob.After(x.Step) { // where a longer run goes on is on the disk
		return x.unsaved
	}
	x.checkpoint(byEnd)
	if k.busy == nil {
		return nil
	}
	r := <-k.writer.Results()
	x.saved(r)
	return r.Err
}
