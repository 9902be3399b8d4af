package lab

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// record is a run folder; run.Folder in a real run.
type record interface {
	Dir() string
	Append(l run.Line) error
	Save(name string, write func(w io.Writer) error) error
	Sync() error
	Close() error
}

// journal is where events go: the log in memory, and the run folder.
type journal struct {
	folder  record // nil: memory only
	start   time.Time
	backlog []run.Line   // lines that the disk did not take, in their order
	onFault atomic.Int32 // a Fault
	broken  error        // why the run cannot go on
}

// seconds is a time as wall_s.
func (j *journal) seconds(at time.Time) float64 { return at.Sub(j.start).Seconds() }

// emit is how everything that must not be lost leaves the training goroutine. The
// line of a member carries it when there are several; the event always does.
func (x *experiment) emit(kind string, member int, body any) {
	now := x.now()
	if len(x.members) == 1 {
		member = event.NoMember
	}
	x.lab.log(event.Event{Wall: now, Type: kind, Step: x.Step, Member: member, Body: body})
	if kind == event.TypeRefused || kind == event.TypePreviewed || x.journal.folder == nil {
		return
	}
	x.journal.backlog = append(x.journal.backlog, run.Line{
		Type: kind, Step: x.Step, Member: member, Body: body, WallS: x.journal.seconds(now),
	})
	if x.disk == nil || len(x.journal.backlog) == 1 { // else it would be refused as the others
		x.flush()
	}
}

// flush writes the backlog. What cannot be written is kept, and training waits: a
// run without its journal is worth nothing.
func (x *experiment) flush() {
	for len(x.journal.backlog) > 0 {
		if err := x.journal.folder.Append(x.journal.backlog[0]); err != nil {
			x.waitForDisk(err)
			return
		}
		x.journal.backlog = x.journal.backlog[1:]
		if x.checkpoints != nil {
			x.checkpoints.writer.Dirty()
		}
	}
	x.journal.backlog = nil
}

// The kinds of faults.
const (
	faultLoss       = "loss"
	faultSimulation = "simulation"
)

// fault makes training wait, or ends the run, because of something that a person
// should see. Training waits once for each kind of fault until somebody resumes.
func (x *experiment) fault(kind, reason string) {
	if x.blamed[kind] {
		return
	}
	x.blamed[kind] = true
	if Fault(x.journal.onFault.Load()) == FaultFail {
		if x.journal.broken == nil {
			x.journal.broken = fmt.Errorf("%s", reason)
		}
		return
	}
	x.wait(event.Paused{Reason: reason})
}
