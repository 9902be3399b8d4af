package replica

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/source"
	"pgrlab/core/task"
)

// Stateful is a part whose state can be saved and restored: Load reads what Save wrote and no
// byte beyond.
type Stateful interface {
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// Section is a part of a run under its name in a checkpoint: "0/agent".
type Section struct {
	Name string
	Part Stateful
}

// Some of the sections of a replica.
const (
	SectionAgent     = "agent" // the learner
	SectionReal      = "real"
	SectionSynthetic = "synthetic"
	SectionFresh     = "fresh" // the D_syn being generated
	SectionGenerator = "generator"
)

// Named is the name of a section of the replica.
func (r *Replica) Named(part string) string { return fmt.Sprintf("%d/%s", r.Index, part) }

// Saved holds a replica's counters and its unfinished work. Together with the sections it is all
// that a checkpoint has of a replica. Checkpoints contain the names of its fields.
type Saved struct {
	State            State
	Parts            []string // names of those that the replica owns
	Synthetic, Fresh int      // capacity of D_syn, and of the one being generated; 0: there is none
	InForce          int      // rows of Fresh in D_syn; then Synthetic is of what D_syn was before them
	Share            float64  // see Synthesis.Share
	Generated        bool     // Fresh is complete
	Scorer           string   // the relevance function that scores, in phase score
	Scores           []float32
	Fit              inspect.FitLoss
	Trial            *savedEvaluation
	Mix              replay.Mix
	Scored           inspect.Scored // by the latest fit; Scores are those of the one to come
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
	Seen       []byte    // the stacks of frames, if the policy sees them
}

// Saved returns what Restore takes. Scores are part of it between StartScoring and the end of
// the fit to them; scored says whether the replica is there.
func (r *Replica) Saved(scored bool) Saved {
	noteKnown(&r.State)
	s := Saved{
		State: r.State, Fit: r.Synthesis.Fit,
		Mix: r.Mix, Generated: r.Synthesis.generated, InForce: r.Synthesis.inForce, Share: r.Synthesis.share, Scored: r.Synthesis.Scored,
	}
	world := r.World.State
	s.State.Obs, s.State.Copies, s.State.Places, s.State.Half = world.Obs, world.Counters, world.Places, world.Half
	for _, o := range r.owned {
		s.Parts = append(s.Parts, o.name)
	}
	if kept := r.Synthesis.Kept(); kept != nil {
		s.Synthetic = kept.Cap()
	}
	if r.Synthesis.Fresh != nil {
		s.Fresh = r.Synthesis.Fresh.Cap()
	}
	if scored {
		s.Scores = r.Synthesis.scores
	}
	if r.Synthesis.scorer != nil { // also after the fit: Functions.Drop keeps its formula
		s.Scorer = r.Synthesis.scorer.Name()
	}
	s.Trial = r.Trial.saved()
	return s
}

// Sections lists the replica's parts in the order in which they are loaded: the generator's fit
// refers to the real transitions. The evaluation environments are among them only during an
// evaluation, because every evaluation resets its own.
func (r *Replica) Sections() []Section {
	parts := append([]Section{{SectionReal, r.Real}}, r.Observed.sections()...)
	if kept := r.Synthesis.Kept(); kept != nil {
		parts = append(parts, Section{SectionSynthetic, kept})
	}
	if r.Synthesis.Fresh != nil {
		parts = append(parts, Section{SectionFresh, r.Synthesis.Fresh})
	}
	for _, o := range r.owned {
		switch p := o.part.(type) {
		case generative.Generator:
			parts = append(parts, Section{o.name, fitting{p, r.Real}})
		case Stateful:
			if o.part != any(r.Trial.judge) || r.Trial.Begun() {
				parts = append(parts, Section{o.name, p})
			}
		}
	}
	for i := range parts {
		parts[i].Name = r.Named(parts[i].Name)
	}
	return parts
}

// fitting is a generator with the transitions that a fit under way refers to.
type fitting struct {
	generative.Generator
	real *replay.Ring
}

func (g fitting) Load(r io.Reader) error { return g.Generator.Load(r, g.real) }

// Validate says what in s cannot be true of a replica of a run of c. Anything can be given a
// valid checksum, and a run that goes on from s must come to an end.
func (s *Saved) Validate(c *config.Config, t task.Task) error {
	n := s.State
	err := cmp.Or(
		config.Between("copies of the environment", len(n.Copies), 0, c.Environment.InLockstep()), config.Between("steps of a member", n.Stepped, 0, c.RoundUp(c.Steps)),
		config.Between("models", len(n.Models), 0, 100), config.Between("losses of models", len(n.Losses.Models), 0, 100),
		config.Between("transitions of D_syn", s.Synthetic, 0, c.Buffer), config.Between("transitions of D_syn", s.Fresh, 0, c.Buffer),
		config.Between("transitions in force", s.InForce, 0, s.Fresh),
		config.Between("generations in D_syn", len(n.Generations), 0, config.MaxCount),
		config.Between("scores", len(s.Scores), 0, c.Buffer), config.Between("parts", len(s.Parts), 0, 100),
		config.Between("scores of the latest fit", len(s.Scored.F), 0, inspect.SampleRows),
		config.Between("steps of a fit", s.Fit.Steps, 0, config.MaxCount), config.Between("losses of a fit", s.Fit.N, 0, config.MaxCount),
		config.Between("real rows of a batch", s.Mix.Real, 0, knob.MaxRows), config.Between("synthetic rows of a batch", s.Mix.Synthetic, 0, knob.MaxRows),
	)
	if !(s.Share >= 0 && s.Share <= 1) {
		err = cmp.Or(err, fmt.Errorf("a share of D_syn is %g", s.Share))
	}
	for _, rows := range n.Generations {
		err = cmp.Or(err, config.Between("transitions of a generation", rows, 0, c.Buffer))
	}
	for _, e := range n.Copies {
		err = cmp.Or(err, config.Between("steps of an episode", e.Step, 0, max(t.EpisodeSteps, c.Steps)))
	}
	for _, l := range []mean{n.Losses.Critic, n.Losses.Actor, n.Losses.QMean, n.Losses.Entropy, n.Losses.Noise, n.Losses.Bonus, n.Losses.Explorer.Critic, n.Losses.Explorer.Actor, n.Losses.Explorer.QMean, n.Losses.World.Observation} {
		err = cmp.Or(err, config.Between("losses", l.N, 0, math.MaxInt))
	}
	for _, m := range n.Models {
		err = cmp.Or(err, config.Between("missed updates", m.Missed, 0, math.MaxInt), config.Between("parts of an update", m.Made, 0, math.MaxInt-1))
	}
	for _, m := range n.Losses.Models {
		err = cmp.Or(err, config.Between("losses", m.Loss.N, 0, math.MaxInt))
	}
	return err
}

// Restore brings a replica that has not begun into the shape that it was saved in, under a
// relevance function of that name: counters, relevance functions with their models, buffers, an
// evaluation under way. The parts are loaded afterwards: see Sections.
func (r *Replica) Restore(s Saved, function string) (err error) {
	if len(s.State.PolicyState) != len(r.PolicyState) {
		return fmt.Errorf("a policy with a memory of %d numbers is saved, the run's has %d", len(s.State.PolicyState), len(r.PolicyState))
	}
	if err := r.World.Restore(source.State{Obs: s.State.Obs, Counters: s.State.Copies, Places: s.State.Places, Half: s.State.Half}); err != nil {
		return err
	}
	r.State = s.State
	r.State.Obs, r.State.Copies, r.State.Places, r.State.Half = nil, nil, nil, nil
	restoreKnown(&r.State)
	for _, name := range s.Parts {
		if r.owns(name) {
			continue
		}
		if _, err = r.Functions.Build(name); err != nil {
			return err
		}
	}
	if r.F, err = r.Functions.Build(function); err != nil {
		return err
	}
	if s.Scorer != "" {
		if r.Synthesis.scorer, err = r.Functions.Build(s.Scorer); err != nil {
			return err
		}
	}
	if s.Scored.Of != "" {
		if _, err = r.Functions.Build(s.Scored.Of); err != nil {
			return err
		}
	}
	r.Synthesis.scores, r.Mix, r.Synthesis.Scored = s.Scores, s.Mix, s.Scored
	r.Synthesis.Fit, r.Synthesis.generated, r.Synthesis.inForce, r.Synthesis.share = s.Fit, s.Generated, s.InForce, s.Share
	kept := &r.Synthetic
	if r.Synthesis.Rolling() {
		kept = &r.Synthesis.before
	}
	for _, ring := range []struct {
		at       **replay.Ring
		capacity int
	}{{kept, s.Synthetic}, {&r.Synthesis.Fresh, s.Fresh}} {
		if ring.capacity > r.Config.Buffer {
			return fmt.Errorf("%d synthetic transitions are saved, the run has room for %d", ring.capacity, r.Config.Buffer)
		}
		*ring.at = nil
		if ring.capacity > 0 {
			*ring.at = replay.NewRing(r.Real.Shape(), ring.capacity)
		}
	}
	return r.Trial.restore(s.Trial)
}

// known says which numbers behind pointers a checkpoint has. The encoder leaves out a 0 behind a
// pointer, and with it that there is one.
type known struct{ LastReturn, Accuracy bool }

// noteKnown is called before a checkpoint is encoded, restoreKnown after one is decoded.
func noteKnown(s *State) {
	s.Known = known{s.LastReturn != nil, s.Losses.Accuracy != nil}
}

func restoreKnown(s *State) {
	if s.Known.LastReturn && s.LastReturn == nil {
		s.LastReturn = new(float64)
	}
	if s.Known.Accuracy && s.Losses.Accuracy == nil {
		s.Losses.Accuracy = new(float64)
	}
}

// saved is the evaluation under way.
func (o *Trial) saved() *savedEvaluation {
	t := o.now
	if t == nil {
		return nil
	}
	return &savedEvaluation{t.obs, t.ended, t.returns, t.q, t.discounted, t.weight, t.acting.State, t.acting.Step, o.judge.Seen()}
}

// restore continues an evaluation that was under way.
func (o *Trial) restore(s *savedEvaluation) error {
	if s == nil {
		return nil
	}
	if o.judge == nil {
		return errors.New("an evaluation is saved, the run has none")
	}
	t, err := o.newEvaluation()
	if err != nil {
		return err
	}
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
	o.now = t
	return o.judge.RestoreSeen(s.Seen)
}
