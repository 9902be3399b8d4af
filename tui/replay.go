package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/lab"
	"pgrlab/core/run"
)

// ErrReplay is the answer to every wish to change a run that is over.
var ErrReplay = errors.New("this is a replay: nothing can be changed; pgrlab --preset DIR/config.toml runs it again")

// ReadJournal reads the events of a run folder. Their times are those of the
// journal, counted from the start line's.
func ReadJournal(dir string) ([]lab.Event, error) {
	f, err := os.Open(filepath.Join(dir, run.JournalName))
	if err != nil {
		return nil, fmt.Errorf("read run folder %s: %w", dir, err)
	}
	defer f.Close()
	var events []lab.Event
	begin := time.Time{}
	r := run.NewReader(f)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read run folder %s: %w", dir, err)
		}
		body, err := decodeBody(e)
		if err != nil {
			return nil, fmt.Errorf("read run folder %s: %w", dir, err)
		}
		if s, ok := body.(lab.Start); ok && begin.IsZero() {
			begin, _ = time.Parse(time.RFC3339, s.Obs.Time) // an unreadable one counts from the year 1
		}
		if body == nil {
			continue // of a newer version
		}
		events = append(events, lab.Event{
			Index: len(events), Wall: begin.Add(time.Duration(e.WallS * float64(time.Second))),
			Type: e.Type, Step: e.Step, Member: e.Member, Body: body,
		})
	}
}

// decodeBody is the struct of a journal line; nil for a type that the screen does
// not know.
func decodeBody(e run.Entry) (any, error) {
	switch e.Type {
	case lab.TypeStart:
		return into[lab.Start](e)
	case lab.TypeEvaluated:
		return into[lab.Evaluated](e)
	case lab.TypeDormant:
		return into[lab.Dormant](e)
	case lab.TypeEpisode:
		return into[lab.Episode](e)
	case lab.TypeRefit:
		return into[lab.Refit](e)
	case lab.TypeKnob:
		return decodeKnob(e)
	case lab.TypeInForce:
		return into[lab.InForce](e)
	case lab.TypeScores:
		return into[lab.Scores](e)
	case lab.TypeLosses:
		return into[lab.Losses](e)
	case lab.TypeNote:
		return into[lab.Noted](e)
	case lab.TypeFailed:
		return into[lab.Failed](e)
	case lab.TypeDone:
		return into[lab.Done](e)
	case lab.TypeCheckpoint:
		return into[lab.Checkpointed](e)
	case lab.TypeGenerated:
		return into[lab.Generated](e)
	case lab.TypeQBias:
		return into[lab.QBias](e)
	case lab.TypePerf:
		return into[lab.Perf](e)
	case lab.TypePause:
		return into[lab.Paused](e)
	case lab.TypeResume:
		return into[lab.Resumed](e)
	}
	return nil, nil
}

func into[T any](e run.Entry) (any, error) {
	var body T
	if err := e.Fields(&body); err != nil {
		return nil, err
	}
	return body, nil
}

// decodeKnob reads a change of a knob, whose values are numbers or names.
func decodeKnob(e run.Entry) (any, error) {
	var line struct {
		ID       int          `json:"id"`
		Knob     string       `json:"knob"`
		From, To any          `json:"-"`
		Position lab.Position `json:"position"`
		Now      bool         `json:"now"`
		Hint     string       `json:"hint"`
		Obs      lab.KnobObs  `json:"obs"`
	}
	var values struct {
		From json.RawMessage `json:"from"`
		To   json.RawMessage `json:"to"`
	}
	if err := errors.Join(e.Fields(&line), e.Fields(&values)); err != nil {
		return nil, err
	}
	c := lab.KnobChanged{ID: line.ID, Knob: line.Knob, From: decodeValue(values.From), To: decodeValue(values.To),
		Position: line.Position, Now: line.Now, Hint: line.Hint, Obs: line.Obs}
	if k, err := lab.FindKnob(line.Knob); err == nil {
		c.Class = k.Class
	}
	return c, nil
}

func decodeValue(text json.RawMessage) lab.Value {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return lab.Choice(name)
	}
	var number run.Float
	_ = json.Unmarshal(text, &number) // what is neither stays 0
	return lab.Number(float64(number))
}

// Replay plays the events of a run through the screen, as fast as it is told. It
// answers like a lab that can only be paused.
type Replay struct {
	mu     sync.Mutex
	config lab.Config
	dir    string
	all    []lab.Event
	length time.Duration // from the first event to the last

	speed   float64 // seconds of the run in a second
	at      time.Duration
	since   time.Time // when at was true; zero while paused
	now     func() time.Time
	rewinds int // how often at moved back
	shown   int // events up to at
	last    *lab.Snapshot
}

// NewReplay plays events of a run of config; speed is seconds of the run in a
// second of the screen, and events must not be empty.
func NewReplay(config lab.Config, dir string, events []lab.Event, speed float64, now func() time.Time) (*Replay, error) {
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

// position is how far the replay is; the lock is held.
func (r *Replay) position() time.Duration {
	at := r.at
	if !r.since.IsZero() {
		at += time.Duration(float64(r.now().Sub(r.since)) * r.speed)
	}
	return min(at, r.length)
}

// count is the number of events up to the position; the lock is held.
func (r *Replay) count() int {
	end := r.all[0].Wall.Add(r.position())
	return sort.Search(len(r.all), func(i int) bool { return r.all[i].Wall.After(end) })
}

// Seek moves by a share of the whole run, back or forth.
func (r *Replay) Seek(by float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.position() + time.Duration(by*float64(r.length))
	if by < 0 {
		r.rewinds++
	}
	r.at = max(0, min(at, r.length))
	if !r.since.IsZero() {
		r.since = r.now()
	}
	r.last = nil
}

// Faster multiplies the speed.
func (r *Replay) Faster(by float64) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = r.position()
	if !r.since.IsZero() {
		r.since = r.now()
	}
	r.speed = max(0.1, min(r.speed*by, 1e6))
	r.last = nil
	return r.speed
}

// Rewinds counts how often events that were shown were taken back.
func (r *Replay) Rewinds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewinds
}

// Events returns the events from index from on, up to the position.
func (r *Replay) Events(from int) []lab.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.count()
	if from >= n {
		return nil
	}
	return r.all[from:n:n]
}

// Send pauses and resumes; anything else is ErrReplay.
func (r *Replay) Send(c lab.Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch c.(type) {
	case lab.Pause:
		r.at, r.since = r.position(), time.Time{}
	case lab.Resume:
		if r.at >= r.length { // from the beginning
			r.at = 0
			r.rewinds++
		}
		r.since = r.now()
	case lab.Stop, lab.Detach, lab.Attach:
		return nil
	default:
		return ErrReplay
	}
	r.last = nil
	return nil
}

// Snapshot is the run at the position, as far as its journal tells. Between two
// events the step is where it would be if the run went evenly.
func (r *Replay) Snapshot() *lab.Snapshot {
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
		s.State = lab.Finished
		if _, failed := r.all[n-1].Body.(lab.Failed); failed {
			s.State = lab.FailedState
		}
	case r.since.IsZero():
		s.State = lab.PausedState
	default:
		s.State = lab.Running
	}
	if r.last != nil && n == r.shown && s.Step == r.last.Step && s.State == r.last.State {
		return r.last
	}
	r.shown, r.last = n, s
	return s
}

// build is a snapshot from the first n events; the lock is held.
func (r *Replay) build(n int) *lab.Snapshot {
	c := r.config
	settings := c.Knobs
	done := clock{from: c.StartSteps, utd: float64(c.Knobs.UTD)}
	s := &lab.Snapshot{Time: r.all[0].Wall.Add(r.position()), Task: c.Task, Method: c.Method, Seed: c.Seed, Dir: r.dir,
		Members: max(1, c.Members), Steps: c.Steps, Phase: lab.Collect}
	for _, e := range r.all[:n] {
		s.Step = e.Step
		switch b := e.Body.(type) {
		case lab.KnobChanged:
			_ = settings.Set(b.Knob, b.To.String()) // it was accepted once
			if b.Knob == "utd" {
				done.changes = append(done.changes, utdChange{b.Position.Step, b.To.Number})
			}
		case lab.Perf:
			s.StepsPerSec, s.UpdatesPerSec = float64(b.StepsPerSec), float64(b.UpdatesPerSec)
		case lab.Refit:
			s.Refits++
			s.Synthetic, s.FitLoss = b.Generated, optional(b.Loss)
		case lab.Episode:
			s.Episode++
			s.EpisodeReturn = float64(b.Return)
		case lab.Losses:
			s.Losses = &lab.UpdateLosses{Critic: optional(b.Critic), Actor: optional(b.Actor), Alpha: optional(b.Alpha), QMean: optional(b.QMean), Curiosity: optional(b.Curiosity)}
		case lab.Failed:
			s.Err = b.Error
		}
	}
	if n > 0 && n < len(r.all) {
		a, b := r.all[n-1], r.all[n]
		if d := b.Wall.Sub(a.Wall); d > 0 {
			part := float64(s.Time.Sub(a.Wall)) / float64(d)
			s.Step = a.Step + int(part*float64(b.Step-a.Step))
		}
	}
	s.Real = s.Step
	if c.Buffer > 0 {
		s.Real = min(s.Step, c.Buffer)
	}
	s.Updates = uint64(done.updates(s.Step))
	if c.Generator.Kind != lab.GeneratorNone && settings.RefitEvery > 0 {
		s.NextRefit = settings.RefitEvery - s.Step%settings.RefitEvery
	}
	s.Knobs = settings.Values()
	return s
}

// rewound starts the history anew when the replay went back.
func (m *Model) rewound() {
	r, ok := m.lab.(*Replay)
	if !ok || r.Rewinds() == m.rewinds {
		return
	}
	m.rewinds = r.Rewinds()
	version := m.history.version
	m.history = history{clock: clock{from: m.options.Config.StartSteps, utd: float64(m.options.Config.Knobs.UTD)}, version: version}
	for i := range m.history.version {
		m.history.version[i]++
	}
	m.cursorOn = false
	m.changed()
}

// other is a run that the charts show beside this one.
type other struct {
	name    string
	history history
}

// loaded delivers the journal of a run to compare with.
type loaded struct {
	name   string
	events []lab.Event
	err    error
}

// replaySpeed is how fast the replay plays.
func (m *Model) replaySpeed() float64 {
	if r, ok := m.lab.(*Replay); ok {
		return r.Faster(1)
	}
	return 1
}

// scrub moves a replay by a share of it.
func (m *Model) scrub(by float64) {
	if r, ok := m.lab.(*Replay); ok {
		r.Seek(by)
		m.poll()
		return
	}
	m.tell("only a replay can be wound: pgrlab replay DIR")
}

func (m *Model) scrubBack() tea.Cmd  { m.scrub(-0.05); return nil }
func (m *Model) scrubForth() tea.Cmd { m.scrub(0.05); return nil }

// faster and slower change the speed of a replay.
func (m *Model) faster() tea.Cmd { return m.speed(2) }
func (m *Model) slower() tea.Cmd { return m.speed(0.5) }

func (m *Model) speed(by float64) tea.Cmd {
	if r, ok := m.lab.(*Replay); ok {
		m.tell(fmt.Sprintf("speed %g", r.Faster(by)) + ": seconds of the run in a second")
	} else {
		m.tell("only a replay has a speed: pgrlab replay DIR")
	}
	return nil
}
