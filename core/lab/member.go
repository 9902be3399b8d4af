package lab

import (
	"fmt"
	"io"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/task"
)

// parts makes what a member consists of. New uses those of build.go, tests a
// scripted world.
type parts struct {
	shape     replay.Shape // of the rows of D_real and D_syn
	fills     bool         // the learner fills D_real, with rows of its own
	learner   func(seed uint64) (agent.Learner, error)
	generator func(policy agent.Policy, seed uint64) (generative.Generator, error)
	// relevance makes the function of that name.
	relevance func(name string, values relevance.Values, seed uint64) (relevance.Function, error)
	// device can be given back while the run waits; nil: there is no need.
	device parker
}

// member is one agent of the cohort with its world and its data.
type member struct {
	index   int
	seed    uint64
	envs    []trainingEnv
	evalEnv task.VecEnv // for evaluation
	agent   agent.Learner
	gen     generative.Generator // nil for methods without one
	f       relevance.Function

	models map[string]relevance.Model // by the name of the function, as far as they are built

	real, synthetic *replay.Ring
	priorities      *replay.Prioritized // of real; nil: all are drawn alike
	mixer           replay.Mixer
	mixers          map[string]replay.Mixer // of models, by name
	lastMix         replay.Mix
	streams         streams
	memberState

	action, next []float32 // of the env step, [K,A] and [K,O] of K copies
	rewards      []float32 // and so on, [K]
	ends         []agent.End
	made         []bool       // which copies have made it
	episodes     []uint64     // of acting
	acting       agent.Acting // of the env step
	nextState    []float32    // PolicyState behind it
	experience   agent.Experience
	work         agent.Work
	updated      [1]agent.UpdateResult
	scorer       relevance.Function // f when scoring began
	scores       []float32          // F of every real transition
	curious      []float32          // bonus or priorities of a batch
	scoring      *replay.Batch      // memory for scoring
	fresh        *replay.Ring       // of the generation under way
	generated    bool               // all of it is there
	rebuild      *rebuildSpec       // of synthetic, and
	freshRebuild *rebuildSpec       // of fresh, where only that is saved; else nil
	owned        []owned
	evaluation   *evaluation // the evaluation under way
	fit          inspect.FitLoss
	freal, fsyn  *event.Histogram
	fasked       *event.Histogram // nil: the generator was asked for nothing
	simulator    inspect.Simulator
}

// memberState are the counters of a member; with the states of its parts they are
// all that a checkpoint needs.
type memberState struct {
	Obs         []float32 // [K,O] of K copies, the observations that the next actions answer
	PolicyState []float32 // [K,S], what the policy remembers of the episodes; empty for one without a memory
	Copies      []copyState
	Half        *halfStep // nil: no env step is half made
	LastReturn  *float64  // of the last evaluation
	Updates     uint64    // critic updates
	Stepped     int       // the last env step that it has made
	Models      []modelState
	Bonus       moments // of F where bonuses are divided by its deviation
	BonusReturn bonusReturn
	Losses      sums

	// Of checkpoints from before Models: read, never written. See adoptModels.
	Curiosity, RND modelState
	// Of checkpoints from before Copies. See adoptCopies.
	Episode       uint64
	EpisodeStep   int
	EpisodeReturn float64
}

// streams are a member's random numbers by what they are for.
type streams struct {
	explore   rng.Stream // random actions, by env step
	replay    rng.Stream // batches, by critic update
	models    rng.Stream // batches of relevance functions that learn: by update, in streams of their names
	dormant   rng.Stream // states of the dormant ratio, by evaluation
	scores    rng.Stream // transitions of the line scores, by evaluation
	histogram rng.Stream // transitions of the histograms, by generation
	preview   rng.Stream // transitions that previews look at, by preview
}

func newStreams(seed uint64) streams {
	s := rng.New(seed, "lab")
	return streams{
		explore: s.Sub("explore"), replay: s.Sub("replay"), models: s,
		dormant: s.Sub("dormant"), scores: s.Sub("scores"), histogram: s.Sub("histogram"),
		preview: s.Sub("preview"),
	}
}

// evaluationSeed is the seed of the environments of evaluation, apart from training's.
func evaluationSeed(seed uint64) uint64 { return rng.New(seed, "evaluation").At(0).Uint64() }

// owned is a part of a member under the name that it has in a checkpoint.
type owned struct {
	name string
	part any
}

// own makes a part the member's: it is closed with the member if it can be, and it
// is part of every checkpoint if it has Save and Load. A model that is built when
// its relevance function is chosen for the first time has that function's name.
func (m *member) own(name string, part any) { m.owned = append(m.owned, owned{name, part}) }

// replace puts a new part in the place of one that the member owns, and closes the
// old one.
func (m *member) replace(name string, part any) {
	for i, o := range m.owned {
		if o.name != name {
			continue
		}
		if c, ok := o.part.(io.Closer); ok {
			c.Close() // it had failed: what it says does not matter
		}
		m.owned[i].part = part
	}
}

// owns says whether there is a part of that name.
func (m *member) owns(name string) bool {
	return slices.ContainsFunc(m.owned, func(o owned) bool { return o.name == name })
}

// close releases everything.
func (m *member) close() {
	for _, o := range m.owned {
		if c, ok := o.part.(io.Closer); ok {
			c.Close()
		}
	}
	m.owned = nil
	m.simulator.Close()
}

// makeRelevance makes the function of that name for m. A model is built when its
// function is chosen for the first time, and kept.
func (p *parts) makeRelevance(name string, m *member) (relevance.Function, error) {
	if made := m.models[name]; made != nil {
		return made, nil
	}
	values, _ := m.agent.(relevance.Values) // nil: functions that need them are refused
	f, err := p.relevance(name, values, m.seed)
	if err != nil {
		return nil, err
	}
	if made, learns := f.(relevance.Model); learns {
		m.own(name, made)
		m.models[name] = made
	}
	return f, nil
}

// build makes a model that belongs to nobody yet.
func (p *parts) build(name string, seed uint64) (relevance.Model, error) {
	f, err := p.relevance(name, nil, seed)
	if err != nil {
		return nil, err
	}
	made, learns := f.(relevance.Model)
	if !learns {
		return nil, fmt.Errorf("relevance %q has no model", name)
	}
	return made, nil
}

// function makes the function of that name from what m has.
func (p *parts) function(name string, m *member) (relevance.Function, error) {
	if learned(name) && m.models[name] == nil {
		return nil, fmt.Errorf("relevance %q: its model has not been built yet", name)
	}
	return p.makeRelevance(name, m)
}

// newMember builds one agent with its world.
func (x *experiment) newMember(index int) (*member, error) {
	m := &member{index: index, seed: x.config.Seed + uint64(index), models: map[string]relevance.Model{}, mixers: map[string]replay.Mixer{}}
	if err := x.build(m); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (x *experiment) build(m *member) (err error) {
	c := x.config
	if err := x.startEnvs(m); err != nil {
		return err
	}
	if c.Evaluation.Every > 0 {
		if m.evalEnv, err = x.task.NewVec(c.Evaluation.Episodes, evaluationSeed(m.seed)); err != nil {
			return fmt.Errorf("start %s for evaluation: %w", c.Task, err)
		}
		m.own("judge", m.evalEnv) // its name in checkpoints
	}
	if m.agent, err = x.parts.learner(m.seed); err != nil {
		return err
	}
	m.own("agent", m.agent)
	if c.Generates() {
		if m.gen, err = x.parts.generator(m.agent, m.seed); err != nil {
			return err
		}
		m.own("generator", m.gen)
	}
	if m.f, err = x.parts.makeRelevance(c.Knobs.Relevance, m); err != nil {
		return err
	}
	for _, name := range c.FixedFunctions() {
		if _, err = x.parts.makeRelevance(name, m); err != nil {
			return err
		}
	}
	m.simulator = x.views.simulator(m)
	shape := x.parts.shape
	m.streams = newStreams(m.seed)
	m.mixer = replay.NewMixer(m.streams.replay)
	m.real = replay.NewRing(shape, c.Buffer)
	if c.Replay.Prioritized() {
		m.priorities = replay.NewPrioritized(c.Replay.Priorities(), m.streams.replay.Sub("priority"))
		m.own("priorities", m.priorities)
	}
	m.scoring = replay.NewBatch(shape, scoreRows)
	states := len(m.envs) * m.agent.StateSize()
	m.PolicyState, m.nextState = make([]float32, states), make([]float32, states)
	if _, _, err := phasesOf(m.agent); err != nil {
		return err
	}
	return x.resetEnvs(m)
}
