package lab

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/meter"
	"pgrlab/core/redo"
	"pgrlab/core/replay"
)

// stateful is a part that can go on where it was: Load reads what Save wrote and
// no byte beyond.
type stateful interface {
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// section is a part of a run under its name in a checkpoint: "loop", "0/agent".
type section struct {
	name string
	part stateful
}

// savedLoop is the section loop: all that is no part with Save and Load.
type savedLoop struct {
	Loop     savedCounters
	Schedule []knob.Scheduled
	Position knob.Position
	Total    int
	Todo     knob.Class
	Bound    int // stage of the work under way, as an index of boundStages
	Scored   bool
	Fitted   bool // in the present env step
	Ended    bool // behind the place where a longer run goes on
	Meter    meter.State
	Members  []savedMember
}

// savedCounters are the counters of the loop.
type savedCounters struct {
	Step        int
	Settings    knob.Settings
	Refits      uint64
	Generations uint64
	Generating  generative.GenKnobs
	Fitted      bool
	Asked       inspect.Prompts
	Analysing   knob.Settings
	Redo        knob.Class
	Changes     []event.KnobChanged
	Waiting     []redo.Waiting
}

// boundStages are the stages that the work of an env step may have reached, by their numbers in checkpoints.
var boundStages = []redo.Stage{redo.Score, redo.Scoring, redo.Fitting, redo.Generating}

// savedMember are a member's counters and what of it is half done.
type savedMember struct {
	State            memberState
	Parts            []string // that the member owns
	Synthetic, Fresh int      // capacity of D_syn, and of the one being generated; 0: there is none
	Generated        bool     // Fresh is complete
	Scorer           string   // the relevance function that scores, in phase score
	Scores           []float32
	Fit              inspect.FitLoss
	Trial            *savedEvaluation
	Mix              replay.Mix
	FReal, FSyn      *event.Histogram
	FAsked           *event.Histogram
}

type savedEvaluation struct {
	Obs        []float32
	Ended      []bool
	Returns    []float64
	Q          []float32
	Discounted []float64
	Weight     float64
	State      []float32 // the policy's, of each episode
	Step       uint64    // of its next actions
}

// loop is the section loop as it is now.
func (x *experiment) loop() savedLoop {
	c, d := x.changes.State(), &x.synthesis
	s := savedLoop{
		Loop: savedCounters{
			x.Step, x.Settings, d.Refits, d.Generations, d.Generating, d.Fitted, d.Asked, d.Analysing, c.Redo, c.All, c.Waiting,
		},
		Schedule: x.steering.schedule, Position: x.position, Total: x.total,
		Todo: c.Todo, Bound: slices.Index(boundStages, c.Begun), Scored: x.refit.scored, Fitted: x.refit.fitted, Ended: x.checkpoints.lastStep.behind(x.position),
		Meter: x.meter.State(),
	}
	for _, m := range x.members {
		s.Members = append(s.Members, m.saved(x.position))
	}
	return s
}

func (m *member) saved(p knob.Position) savedMember {
	s := savedMember{
		State: m.memberState, Fit: m.fit,
		Mix: m.lastMix, Generated: m.generated, FReal: m.freal, FSyn: m.fsyn, FAsked: m.fasked,
	}
	for _, o := range m.owned {
		s.Parts = append(s.Parts, o.name)
	}
	if m.synthetic != nil {
		s.Synthetic = m.synthetic.Cap()
	}
	if m.fresh != nil {
		s.Fresh = m.fresh.Cap()
	}
	if p.Phase == knob.Score || p.Phase == knob.Fit {
		s.Scores = m.scores
		if m.scorer != nil {
			s.Scorer = m.scorer.Name()
		}
	}
	if t := m.evaluation; t != nil {
		s.Trial = &savedEvaluation{t.obs, t.ended, t.returns, t.q, t.discounted, t.weight, t.acting.State, t.acting.Step}
	}
	return s
}

// sections lists the member's parts in the order in which they are loaded: the
// generator's fit refers to the real transitions. Environments of evaluation are
// among them in an evaluation only, for every evaluation resets its own.
func (m *member) sections() []section {
	parts := []section{{sectionReal, m.real}}
	if m.synthetic != nil {
		parts = append(parts, section{sectionSynthetic, m.synthetic})
	}
	if m.fresh != nil {
		parts = append(parts, section{sectionFresh, m.fresh})
	}
	for _, o := range m.owned {
		switch p := o.part.(type) {
		case generative.Generator:
			parts = append(parts, section{o.name, fitting{p, m.real}})
		case stateful:
			if o.part != any(m.evalEnv) || m.evaluation != nil {
				parts = append(parts, section{o.name, p})
			}
		}
	}
	for i := range parts {
		parts[i].name = fmt.Sprintf("%d/%s", m.index, parts[i].name)
	}
	return parts
}

// The names of the loop, D_real and D_syn among a member's sections.
const (
	sectionLoop      = "loop"
	sectionReal      = "real"
	sectionSynthetic = "synthetic"
	sectionFresh     = "fresh" // the D_syn being generated
)

// fitting is a generator with the transitions that a fit under way refers to.
type fitting struct {
	generative.Generator
	real *replay.Ring
}

func (g fitting) Load(r io.Reader) error { return g.Generator.Load(r, g.real) }

// saveSections hands every section to put, with a function that writes it. It is for the
// places between two slices only.
func (x *experiment) saveSections(put func(name string, part func(w io.Writer) error) error) error {
	if x.inSlice {
		return fmt.Errorf("save run: the run is at work behind %s", x.position)
	}
	all := []section{{sectionLoop, loopSection{x}}}
	for _, m := range x.members {
		all = append(all, m.sections()...)
	}
	for _, s := range all {
		if err := put(s.name, s.part.Save); err != nil {
			return fmt.Errorf("save run: %s: %w", s.name, err)
		}
	}
	return nil
}

// loadSections makes x, which has not begun, the run whose sections get returns.
// names are those that were saved; all must be there and none be left. On an error
// x must not be used any further.
func (x *experiment) loadSections(names []string, get func(name string, load func(r io.Reader) error) error) error {
	left := slices.Clone(names)
	load := func(s section) error {
		i := slices.Index(left, s.name)
		if i < 0 {
			return fmt.Errorf("load run: %s was not saved", s.name)
		}
		left = slices.Delete(left, i, i+1)
		if err := get(s.name, s.part.Load); err != nil {
			return fmt.Errorf("load run: %s: %w", s.name, err)
		}
		return nil
	}
	if err := load(section{sectionLoop, loopSection{x}}); err != nil {
		return err
	}
	for _, m := range x.members {
		for _, s := range m.sections() {
			if err := load(s); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("load run: this version does not know %s", strings.Join(left, ", "))
	}
	if err := x.checkLoaded(); err != nil {
		return fmt.Errorf("load run: its parts do not go together: %w", err)
	}
	x.inSlice = false
	x.publish(time.Time{})
	return nil
}

// loopSection is the section loop. Its Load brings the members into the shape that
// they were saved in, for their own sections to follow.
type loopSection struct{ x *experiment }

func (l loopSection) Save(w io.Writer) error { return gob.NewEncoder(w).Encode(l.x.loop()) }

func (l loopSection) Load(r io.Reader) error {
	var s savedLoop
	text, err := io.ReadAll(r) // gob reads ahead
	if err != nil {
		return err
	}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return errors.New("not a saved run, or of another version")
	}
	return l.x.restore(s)
}

func (x *experiment) restore(s savedLoop) error {
	if len(s.Members) != len(x.members) {
		return fmt.Errorf("%d members are saved, the cohort has %d", len(s.Members), len(x.members))
	}
	if err := s.validate(x); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	x.place.load(s.Loop.Step, s.Position, s.Total)
	l := &s.Loop
	x.Settings, x.steering.schedule = l.Settings, s.Schedule
	x.synthesis = synthesis{l.Refits, l.Generations, l.Generating, l.Fitted, l.Asked, l.Analysing}
	x.changes.Restore(redo.State{All: l.Changes, Waiting: l.Waiting, Todo: s.Todo, Redo: l.Redo, Begun: boundStages[s.Bound]})
	x.refit.scored, x.refit.fitted, x.checkpoints.lastStep.marked = s.Scored, s.Fitted, s.Ended
	x.meter.Restore(s.Meter)
	for i, m := range x.members {
		if err := x.restoreMember(m, s.Members[i]); err != nil {
			return err
		}
	}
	return nil
}

// restoreMember brings a member into the shape that it was saved in: counters,
// relevance functions with their models, buffers, an evaluation under way.
func (x *experiment) restoreMember(m *member, s savedMember) error {
	if len(s.State.Obs) != len(m.Obs) {
		return fmt.Errorf("an observation of %d numbers is saved, the task has %d", len(s.State.Obs), len(m.Obs))
	}
	if len(s.State.PolicyState) != len(m.PolicyState) {
		return fmt.Errorf("a policy with a memory of %d numbers is saved, the run's has %d", len(s.State.PolicyState), len(m.PolicyState))
	}
	if err := s.State.checkCopies(len(m.envs), len(m.next), len(m.action)); err != nil {
		return err
	}
	m.memberState = s.State
	m.adoptCopies()
	m.adoptModels()
	for _, name := range s.Parts {
		if m.owns(name) {
			continue
		}
		var err error
		if _, err = x.parts.makeRelevance(name, m); err != nil {
			return err
		}
	}
	var err error
	if m.f, err = x.parts.makeRelevance(x.Settings.Relevance, m); err != nil {
		return err
	}
	if s.Scorer != "" {
		if m.scorer, err = x.parts.makeRelevance(s.Scorer, m); err != nil {
			return err
		}
	}
	m.scores, m.lastMix, m.freal, m.fsyn, m.fasked = s.Scores, s.Mix, s.FReal, s.FSyn, s.FAsked
	m.fit, m.generated = s.Fit, s.Generated
	for _, ring := range []struct {
		at       **replay.Ring
		capacity int
	}{{&m.synthetic, s.Synthetic}, {&m.fresh, s.Fresh}} {
		if ring.capacity > x.config.Buffer {
			return fmt.Errorf("%d synthetic transitions are saved, the run has room for %d", ring.capacity, x.config.Buffer)
		}
		*ring.at = nil
		if ring.capacity > 0 {
			*ring.at = replay.NewRing(m.real.Shape(), ring.capacity)
		}
	}
	return m.restoreEvaluation(s.Trial, x.config.Evaluation)
}

// adoptModels turns the counters of a checkpoint that knew two models by fields of their
// own into those by name.
func (s *memberState) adoptModels() {
	for name, old := range map[string]*modelState{"curiosity": &s.Curiosity, "rnd": &s.RND} {
		if *old != (modelState{}) {
			*s.stateOf(name) = modelState{name, old.Updates, old.Missed}
		}
		*old = modelState{}
	}
	s.Losses.adoptModels()
}

func (m *member) restoreEvaluation(s *savedEvaluation, e config.Evaluation) error {
	if s == nil {
		return nil
	}
	if m.evalEnv == nil {
		return errors.New("an evaluation is saved, the run has none")
	}
	t := newEvaluation(m.evalEnv, m.agent, e)
	if len(s.Obs) != len(t.obs) || len(s.Ended) != len(t.ended) || len(s.Returns) != len(t.returns) || len(s.Q) != 0 && len(s.Q) != len(t.returns) {
		return fmt.Errorf("an evaluation of %d episodes is saved, the run has %d", len(s.Returns), len(t.returns))
	}
	copy(t.obs, s.Obs)
	copy(t.ended, s.Ended)
	copy(t.returns, s.Returns)
	copy(t.discounted, s.Discounted)
	copy(t.acting.State, s.State)
	t.acting.Step = s.Step
	t.q, t.weight = s.Q, s.Weight
	m.evaluation = t
	return nil
}
