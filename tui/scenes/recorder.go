package scenes

import (
	"encoding/json"
	"io"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// Lab is the run that is recorded.
type Lab interface {
	Snapshot() *event.Snapshot
	Send(event.Command) error
}

// How often a recorder looks, writes a scene of a phase that goes on, and asks for what costs the run
// some milliseconds.
const (
	LookEvery = 100 * time.Millisecond
	every     = 500 * time.Millisecond
	askEvery  = 5 * time.Second
)

// Recorder writes scenes of a run, as lines of JSON. It belongs to one goroutine.
type Recorder struct {
	to           io.Writer
	begin        time.Time // of the journal
	last         *event.Snapshot
	wrote, asked time.Time
	phase        knob.Phase
	dreamt       *event.Dreamt
	mapped       *event.Mapped
}

// NewRecorder writes to a writer scenes of a run whose first event was at begin. The writer may have
// scenes already, the last one cut.
func NewRecorder(to io.Writer, begin time.Time) (*Recorder, error) {
	_, err := io.WriteString(to, "\n")
	return &Recorder{to: to, begin: begin, phase: -1}, err
}

// Look writes a scene if the run's phase is another one or half a second has passed, and asks the run
// for what the next scenes show.
func (r *Recorder) Look(l Lab, now time.Time) error {
	s := l.Snapshot()
	if s == nil || s == r.last {
		return nil
	}
	if s.State == event.Running && now.Sub(r.wrote) >= every {
		if s.Moment == nil || s.Moment.Step != s.Step {
			_ = l.Send(event.Watch{}) // a run that ends now answers no more
		}
		if s.Synthetic > 0 {
			_ = l.Send(event.Dreams{Rows: event.MostDreams}) // costs something once for each D_syn
		}
		if s.Synthetic > 0 && now.Sub(r.asked) >= askEvery {
			_ = l.Send(event.Map{X: 0, Y: 1})
			r.asked = now
		}
	}
	if s.Phase == r.phase && now.Sub(r.wrote) < every {
		return nil
	}
	r.last, r.phase, r.wrote = s, s.Phase, now
	return r.write(s, s.Time)
}

// End writes the last scene of a run, whose last event was at a time.
func (r *Recorder) End(l Lab, at time.Time) error {
	s := l.Snapshot()
	if s == nil {
		return nil
	}
	return r.write(s, at)
}

func (r *Recorder) write(s *event.Snapshot, at time.Time) error {
	x := of(s, at.Sub(r.begin).Seconds())
	if d := s.Dreamt; d != nil && d != r.dreamt && d.Unknown == "" && d.Left == 0 {
		x.Dreamt, r.dreamt = dreamtOf(d), d
	}
	if m := s.Map; m != nil && m.Unknown == "" && (r.mapped == nil || r.mapped.SynN != m.SynN || r.mapped.Syn != m.Syn) {
		x.Map, r.mapped = planeOf(m), m
	}
	line, err := json.Marshal(&x)
	if err != nil {
		return err
	}
	_, err = r.to.Write(append(line, '\n'))
	return err
}
