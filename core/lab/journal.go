package lab

import (
	"io"
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

// journal is where events go: the log in memory, and the run folder. Lines that the disk does
// not take are kept in order.
type journal struct {
	place   *place // gives the step of a line
	members int    // how many the run has
	now     func() time.Time
	log     func(event.Event)
	refused func(error) // is called with why the disk does not take a line
	written func()      // is called after each line that it took

	folder  record // nil: memory only
	start   time.Time
	backlog []run.Line // lines that the disk did not take, in order
	stuck   bool       // the first of them was refused: only flush tries it again
}

// seconds converts a time to wall_s.
func (j *journal) seconds(at time.Time) float64 { return at.Sub(j.start).Seconds() }

// emit is how everything that must not be lost leaves the training goroutine. In a cohort of
// one, neither the event nor its line names the member.
func (j *journal) emit(kind string, member int, body any) {
	now := j.now()
	if j.members == 1 {
		member = event.NoMember
	}
	j.log(event.Event{Wall: now, Type: kind, Step: j.place.Step, Member: member, Body: body})
	if kind == event.TypeRefused || kind == event.TypePreviewed || j.folder == nil {
		return
	}
	j.backlog = append(j.backlog, run.Line{
		Type: kind, Step: j.place.Step, Member: member, Body: body, WallS: j.seconds(now),
	})
	if !j.stuck { // else it would be refused like the others
		j.flush()
	}
}

// flush writes the backlog. What cannot be written is kept: a run without its journal is
// worth nothing.
func (j *journal) flush() {
	for len(j.backlog) > 0 {
		if err := j.folder.Append(j.backlog[0]); err != nil {
			j.stuck = true
			j.refused(err)
			return
		}
		j.backlog = j.backlog[1:]
		j.written()
	}
	j.backlog, j.stuck = nil, false
}

// refuse answers a command that is not carried out.
func (j *journal) refuse(ref, knob, value, by string, err error) {
	j.emit(event.TypeRefused, event.NoMember, event.Refused{Ref: ref, Knob: knob, Value: value, By: by, Reason: err.Error()})
}
