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

// How often a recorder looks, writes a scene of a phase that goes on in the first hours of a run, and asks
// for what costs the run some milliseconds.
const (
	LookEvery = 100 * time.Millisecond
	every     = 500 * time.Millisecond
	askEvery  = 5 * time.Second
)

// rarest is the longest time between two scenes: less than outdated, also if a step takes some time.
const rarest = 4 * time.Second

// between is the time between two scenes of a phase that goes on, so long after the first event. It grows
// with the run, because a replay reads all scenes.
func between(at time.Duration) time.Duration { return min(max(every, at/20_000), rarest) }

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

// Look writes a scene if the run's phase is another one, if there are new dreams, or if enough time has
// passed, and asks the run for what the next scenes show.
func (r *Recorder) Look(l Lab, now time.Time) error {
	s := l.Snapshot()
	if s == nil || s == r.last {
		return nil
	}
	dreamt := s.Dreamt != nil && s.Dreamt != r.dreamt && s.Dreamt.Unknown == "" && s.Dreamt.Left == 0
	if s.Phase == r.phase && !dreamt && now.Sub(r.wrote) < between(s.Time.Sub(r.begin)) {
		return nil
	}
	if s.State == event.Running {
		r.ask(l, s, now)
	}
	r.last, r.phase, r.wrote = s, s.Phase, now
	return r.write(s, s.Time)
}

// ask requests what the next scenes show.
func (r *Recorder) ask(l Lab, s *event.Snapshot, now time.Time) {
	if s.Moment == nil || s.Moment.Step != s.Step {
		_ = l.Send(event.Watch{}) // a run that ends now answers no more
	}
	if s.Synthetic == 0 {
		return
	}
	_ = l.Send(event.Dreams{Rows: event.MostDreams}) // costs something once for each D_syn
	if now.Sub(r.asked) >= askEvery {
		_ = l.Send(event.Map{X: 0, Y: 1})
		r.asked = now
	}
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
