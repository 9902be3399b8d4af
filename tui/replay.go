package tui

import (
	"fmt"
	"sort"
	"sync"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/scenes"
)

// Replay plays the events of a run through the screen at the speed that is set. It behaves like a
// lab that can only be paused.
type Replay struct {
	mu     sync.Mutex
	config config.Config
	dir    string
	all    []event.Event
	length time.Duration // from the first event to the last

	scenes *scenes.Reel // nil: there are none

	speed   float64 // seconds of the run per second of the screen
	at      time.Duration
	since   time.Time // when at was valid; zero while paused
	now     func() time.Time
	rewinds int // how often at has moved back
	shown   int // events up to at, as last shown
	last    *event.Snapshot
}

// NewReplay plays the events of a run with the given config; speed is in seconds of the run per
// second of the screen. events must not be empty.
func NewReplay(config config.Config, dir string, events []event.Event, speed float64, now func() time.Time) (*Replay, error) {
	if len(events) == 0 {
		return nil, fmt.Errorf("replay %s: its journal is empty", dir)
	}
	if !(speed > 0) {
		return nil, fmt.Errorf("replay %s: speed is %g: want more than 0", dir, speed)
	}
	if now == nil {
		now = time.Now
	}
	return &Replay{config: config, dir: dir, all: events, speed: speed, now: now, since: now(),
		length: events[len(events)-1].Wall.Sub(events[0].Wall)}, nil
}

// WithScenes makes the replay show scenes of the run too; nil: it has none.
func (r *Replay) WithScenes(of *scenes.Reel) *Replay {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scenes, r.last = of, nil
	return r
}

// position is how far the replay has come; the caller holds the lock.
func (r *Replay) position() time.Duration {
	if r.since.IsZero() {
		return r.at
	}
	played := float64(r.now().Sub(r.since)) * r.speed
	if !(played < float64(r.length-r.at)) { // compared first: a Duration may be too small for it
		return r.length
	}
	return r.at + time.Duration(played)
}

// Time is the time of the run that the replay has come to.
func (r *Replay) Time() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[0].Wall.Add(r.position())
}

// over says whether it has come to the end.
func (r *Replay) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.position() >= r.length
}

// count is the number of events up to the position; the caller holds the lock.
func (r *Replay) count() int {
	end := r.all[0].Wall.Add(r.position())
	return sort.Search(len(r.all), func(i int) bool { return r.all[i].Wall.After(end) })
}

// Seek moves forward, or back, by a share of the whole run. Back from the end it pauses, for at a high
// speed it would be at the end again at once.
func (r *Replay) Seek(by float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.position()
	if by < 0 {
		r.rewinds++
		if from >= r.length {
			r.since = time.Time{}
		}
	}
	r.at = max(0, min(from+time.Duration(by*float64(r.length)), r.length))
	if !r.since.IsZero() {
		r.since = r.now()
	}
	r.last = nil
}

// Reach moves to the middle of the next time in a phase, as scenes have it; false: there is none.
func (r *Replay) Reach(p knob.Phase) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.position()
	to, found := r.scenes.Next(p, from)
	if !found || to > r.length {
		return false
	}
	if to < from {
		r.rewinds++
	}
	if r.at = to; !r.since.IsZero() {
		r.since = r.now()
	}
	r.last = nil
	return true
}

// End moves to the end.
func (r *Replay) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.since, r.last = r.length, time.Time{}, nil
}

// Speed is in seconds of the run per second of the screen.
func (r *Replay) Speed() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.speed
}

// Faster multiplies the speed, within bounds that include the present one.
func (r *Replay) Faster(by float64) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = r.position()
	if !r.since.IsZero() {
		r.since = r.now()
	}
	r.speed = max(min(0.1, r.speed), min(r.speed*by, max(1e6, r.speed)))
	r.last = nil
	return r.speed
}

// Rewinds counts how often the replay has gone back before events already shown.
func (r *Replay) Rewinds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewinds
}

// Events returns the events from index from on, up to the position.
func (r *Replay) Events(from int) []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.count()
	if from >= n {
		return nil
	}
	return r.all[from:n:n]
}

// Send pauses and resumes; any other command is ErrReplay.
func (r *Replay) Send(c event.Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch c.(type) {
	case event.Pause, event.Park:
		r.at, r.since = r.position(), time.Time{}
	case event.Resume:
		if r.at = r.position(); r.at >= r.length { // start again from the beginning
			r.at = 0
			r.rewinds++
		}
		r.since = r.now()
	case event.Stop, event.Detach, event.Attach:
		return nil
	default:
		return pane.ErrReplay
	}
	r.last = nil
	return nil
}

// Snapshot is the run at the position, as far as its journal has it. Between two events it
// interpolates the step as if the run went at an even speed.
func (r *Replay) Snapshot() *event.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.count()
	playing := !r.since.IsZero() && r.position() < r.length
	if r.last != nil && n == r.shown && !playing {
		return r.last
	}
	s := r.build(n)
	switch {
	case n == len(r.all) && r.position() >= r.length:
		s.State = event.Finished
		if _, failed := r.all[n-1].Body.(event.Failed); failed {
			s.State = event.FailedState
		}
	case r.since.IsZero():
		s.State = event.PausedState
	default:
		s.State = event.Running
	}
	if r.scenes == nil && r.last != nil && n == r.shown && s.Step == r.last.Step && s.State == r.last.State {
		return r.last
	}
	r.shown, r.last = n, s
	return s
}

// build makes a snapshot from the first n events; the caller holds the lock.
func (r *Replay) build(n int) *event.Snapshot {
	c := r.config
	settings := c.Knobs
	done := pane.ClockOf(&c)
	s := &event.Snapshot{Time: r.all[0].Wall.Add(r.position()), Task: c.Task, Method: c.Method, Seed: c.Seed, Dir: r.dir,
		Members: max(1, c.Members), Steps: c.Steps, Phase: knob.Collect, Episode: 1, EpisodeStep: -1}
	var kept []int // rows of the generations that D_syn holds
	for _, e := range r.all[:n] {
		if e.Type != event.TypeExamined { // a saved state of any step may be analysed after the run's end
			s.Step = e.Step
		}
		if e.Member > 0 { // a snapshot is about the first member
			continue
		}
		switch b := e.Body.(type) {
		case event.KnobChanged:
			_ = settings.Set(b.Knob, b.To.String()) // it was accepted once
			if b.Knob == "utd" {
				done.ChangeUTD(b.Position.Step, b.To.Number)
			}
		case event.Perf:
			s.StepsPerSec, s.UpdatesPerSec = float64(b.StepsPerSec), float64(b.UpdatesPerSec)
		case event.Refit:
			if b.Steps > 0 || c.Has()&knob.UseFit == 0 { // otherwise a generation without a fit
				s.Refits++
			}
			kept = append(kept, b.Generated)
			kept = kept[max(0, len(kept)-c.Generator.Generations()):]
			s.Synthetic, s.FitLoss = 0, history.Optional(b.Loss)
			for _, rows := range kept {
				s.Synthetic += rows
			}
			if c.Buffer > 0 {
				s.Synthetic = min(s.Synthetic, c.Buffer)
			}
		case event.Episode:
			if b.Copy == 0 {
				s.Episode++
				s.EpisodeReturn = float64(b.Return)
			}
		case event.Losses:
			s.Losses = &event.UpdateLosses{Critic: history.Optional(b.Critic), Actor: history.Optional(b.Actor), Alpha: history.Optional(b.Alpha), QMean: history.Optional(b.QMean), Noise: history.Optional(b.Noise)}
			s.Losses.Function, s.Losses.Model = b.Model()
			if x := b.Explorer; x != nil {
				s.Losses.Explorer = &event.ExplorerUpdate{Critic: history.Optional(x.Critic), Actor: history.Optional(x.Actor), Alpha: float64(x.Alpha), QMean: history.Optional(x.QMean)}
			}
		case event.Failed:
			s.Err = b.Error
		}
	}
	after := s.Step
	if n > 0 && n < len(r.all) {
		a, b := r.all[n-1], r.all[n]
		if d := b.Wall.Sub(a.Wall); d > 0 {
			part := float64(s.Time.Sub(a.Wall)) / float64(d)
			s.Step += int(part * float64(max(0, b.Step-s.Step)))
		}
	}
	s.Real = s.Step
	if s.Dreams = c.Dreams(); s.Dreams {
		s.Real = 0 // no env step is made
	}
	if c.Data.Seeds() {
		s.Real += c.Data.Rows
	}
	if c.Buffer > 0 {
		s.Real = min(s.Real, c.Buffer)
	}
	s.Updates = uint64(done.Updates(s.Step))
	s.Knobs = settings.Values()
	if at := r.position(); at < r.length {
		r.scenes.At(at, after, s)
	} else {
		r.scenes.End(after, s)
	}
	if c.Generator.Kind != config.GeneratorNone && settings.RefitEvery > 0 && !s.Dreams {
		if next := c.NextRefit(s.Step, settings.RefitEvery); next < s.Steps {
			s.NextRefit = next - s.Step
		}
	}
	return s
}
