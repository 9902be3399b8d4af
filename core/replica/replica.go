package replica

import (
	"io"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/source"
	"pgrlab/core/task"
)

// Host takes what happens to the replicas of a cohort; member is the index of a replica.
type Host interface {
	// Emit takes something that is worth a line of the journal; kind is a type of package event,
	// body one of its bodies.
	Emit(kind string, member int, body any)
	// Sampled takes the mix of a batch that is about to be trained on. The update on it began that
	// many units before the slice under way.
	Sampled(member int, mix replay.Mix, ago int)
	// Diverged handles an error that may come from a number that is not finite. If it does,
	// Diverged returns nil and the replica goes on; other errors are returned.
	Diverged(member int, doing string, err error) error
	// Fault takes the reason why an environment cannot continue; a new one takes its place.
	Fault(member int, doing string, err error)
}

// Cohort is what all replicas of a run are made from.
type Cohort struct {
	Config *config.Config
	Task   task.Task
	Parts  Parts
	Host   Host
}

// Now is what the replicas read of a run, in addition to what they are made from.
type Now struct {
	Step     int // steps made in all copies of the environment, those of the present env step included
	Settings *knob.Settings
	Refit    bool // the generator is fitted to D_real in this env step
}

// Replica is one agent of the cohort with its world and its data. It belongs to one
// goroutine.
type Replica struct {
	Cohort
	Index     int
	Seed      uint64 // the configuration's, plus Index
	Agent     *agent.Made
	Generator generative.Generator // nil for methods without one
	F         *relevance.Model

	Real, Synthetic *replay.Ring

	Mix replay.Mix // of the latest batch
	State

	Rounds    Rounds
	Synthesis Synthesis
	Functions Functions
	Observed  Observed
	Trial     Trial

	World      *source.Copies
	priorities *replay.Prioritized // of Real; nil: all rows are drawn alike
	prior      *replay.Ring        // pinned data; nil: there are none
	mixer      replay.Mixer
	streams    streams
	episodes   []uint64     // of acting
	acting     agent.Acting // of the env step
	nextState  []float32    // PolicyState after the step
	phases     []Phase
	working    agent.Work
	updated    [1]agent.UpdateResult
	curious    []float32     // bonus or priorities of a batch
	drawn      []int         // of the pinned data, for a batch
	scratch    *replay.Batch // memory for scoring
	newest     *replay.Batch // the env step, for a learner that observes it with a bonus; else nil
	owned      []owned
	simulator  inspect.Simulator
	sight      *sight // nil: the learner sees no frames
}

// State are the counters of a replica; with the states of its parts they are all that a
// checkpoint needs.
type State struct {
	PolicyState []float32 // [K,S], what the policy remembers of the episodes; empty for one without a memory
	LastReturn  *float64  // of the last evaluation
	Updates     uint64    // critic updates
	Stepped     int       // Now.Step of the last env step that it has made
	Drifted     int       // the env step in which ReportDrift wrote its last line
	Models      []modelState
	Counting    string // the function that has counted a part of D_real; "": none
	BonusReturn bonusReturn
	Generations []int // rows of each generation in D_syn, oldest first
	Losses      LossSums
	Known       known

	// Only in a checkpoint: source.State, of the copies of the environment.
	Obs    []float32
	Copies []source.Copy
	Places []float32
	Half   *source.Half
}

// streams are a replica's random numbers by what they are for.
type streams struct {
	explore rng.Stream // random actions, by env step
	prior   rng.Stream // pinned data in batches, by critic update
	replay  rng.Stream // batches, by critic update
	models  rng.Stream // batches of relevance functions that learn: by update, in streams of their names
	dormant rng.Stream // states of the dormant ratio, by evaluation
	scores  rng.Stream // transitions of the line scores, by evaluation
	preview rng.Stream // transitions that previews look at, by preview
}

func newStreams(seed uint64) streams {
	s := rng.New(seed, "lab")
	return streams{
		explore: s.Sub("explore"), replay: s.Sub("replay"), prior: s.Sub("prior"), models: s,
		dormant: s.Sub("dormant"), scores: s.Sub("scores"),
		preview: s.Sub("preview"),
	}
}

// evaluationSeed is the seed of the evaluation environments, apart from training's.
func evaluationSeed(seed uint64) uint64 { return rng.New(seed, "evaluation").At(0).Uint64() }

// New builds replica index of the cohort, at the beginning of its first episode. It must be
// closed.
func New(c Cohort, index int) (*Replica, error) {
	r := &Replica{
		Cohort: c, Index: index, Seed: c.Config.Seed + uint64(index),
		Functions: Functions{built: map[string]*relevance.Model{}, others: map[string]*relevance.Model{}, mixers: map[string]replay.Mixer{}},
	}
	r.Rounds.of, r.Observed.of, r.Functions.of, r.Synthesis.of, r.Trial.of = r, r, r, r, r
	if err := r.build(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Replica) build() (err error) {
	c := r.Config
	if err := r.startSource(); err != nil {
		return err
	}
	r.Observed.begin()
	if r.Agent, err = r.Parts.Learner(r.Observed.log, r.Seed); err != nil {
		return err
	}
	r.own(SectionAgent, r.Agent)
	r.Trial.policy = r.Agent
	if c.Generates() {
		if r.Generator, err = r.Parts.Generator(r.Rolled(), r.Seed); err != nil {
			return err
		}
		r.own(SectionGenerator, r.Generator)
	}
	if r.F, err = r.Functions.Build(c.Knobs.Relevance); err != nil {
		return err
	}
	for _, name := range c.FixedFunctions() {
		if _, err = r.Functions.Build(name); err != nil {
			return err
		}
	}
	r.simulator = r.newSimulator()
	shape := r.Parts.Shape
	r.streams = newStreams(r.Seed)
	r.mixer = replay.NewMixer(r.streams.replay)
	r.Real = replay.NewRing(shape, c.Buffer)
	if r.Agent.Batches == nil {
		r.Real.Annotate()
	}
	if c.Replay.Prioritized() {
		r.priorities = replay.NewPrioritized(config.Priorities, r.streams.replay.Sub("priority"))
		r.own("priorities", r.priorities)
	}
	r.takeData()
	r.scratch = replay.NewBatch(shape, inspect.ScoreRows)
	r.scratch.Ages = make([]float32, inspect.ScoreRows)
	r.Real.Ages()
	if err := r.prepareBonus(); err != nil {
		return err
	}
	if r.Config.Sees() {
		if r.sight, err = r.newSight(); err != nil {
			return err
		}
	}
	if r.Parts.Fills {
		r.Real.See(recalled{r})
		r.scratch.Frames = replay.NewFrameRows(r.scratch.Size, r.sight.depth())
	}
	if r.phases, err = r.newPhases(); err != nil {
		return err
	}
	if c.Dreams() || c.Data.Seeds() {
		for _, name := range trainedModels { // they learn before they first score: env steps train them not at all, or hardly
			r.stateOf(name).Missed = c.Relevance.Pace(name).Warmup
		}
	}
	states := r.World.Copies * r.Agent.StateSize()
	r.PolicyState, r.nextState = make([]float32, states), make([]float32, states)
	r.episodes = make([]uint64, r.World.Copies)
	return r.World.Begin(r.Observed.log)
}

// Rolled is the policy that generators of rollouts roll out.
func (r *Replica) Rolled() agent.Policy {
	if r.Agent.Rolled != nil {
		return r.Agent.Rolled
	}
	return r.Agent
}

// startSource makes the environments.
func (r *Replica) startSource() (err error) {
	c := r.Config
	from := source.Config{Task: r.Task, Name: c.Task, Seed: r.Seed, Copies: c.Environment.InLockstep()}
	if c.Sees() {
		from.Side, from.Colours = c.Pixels.Side, agent.Colours
	}
	if r.World, err = source.New(from, host{r}, r.forget); err != nil {
		return err
	}
	for _, part := range r.World.Parts() {
		r.own(part.Name, part.Env)
	}
	return r.Trial.begin(from)
}

// forget ends what is remembered of a copy's episode, also of one that was lost.
func (r *Replica) forget(i int) {
	clear(r.World.Row(r.PolicyState, i))
	if f := r.Rounds.function(); f != nil {
		f.Forget(i)
	}
}

// host passes what happens to a replica's environments to its host.
type host struct{ *Replica }

// Emit implements source.Host.
func (h host) Emit(kind string, body any) { h.emit(kind, body) }

// Fault implements source.Host.
func (h host) Fault(doing string, err error) { h.Host.Fault(h.Index, doing, err) }

// owned is a part of a replica under the name that it has in a checkpoint.
type owned struct {
	name string
	part any
}

// own makes a part the replica's: it is closed with the replica if it can be, and it is part of
// every checkpoint if it has Save and Load. A model, which is built when its relevance function
// is chosen for the first time, is owned under that function's name.
func (r *Replica) own(name string, part any) { r.owned = append(r.owned, owned{name, part}) }

// owns says whether there is a part of that name.
func (r *Replica) owns(name string) bool {
	return slices.ContainsFunc(r.owned, func(o owned) bool { return o.name == name })
}

// Close releases everything.
func (r *Replica) Close() {
	for _, o := range r.owned {
		if c, ok := o.part.(io.Closer); ok {
			c.Close()
		}
	}
	r.owned = nil
	r.simulator.Close()
}

// Enough says whether there are enough transitions to train on.
func (r *Replica) Enough() bool {
	met := r.Real.Len()
	if r.Parts.Fills {
		met = r.Stepped
	}
	return met > r.Config.StartSteps
}

// emit passes something that is worth a line to the host.
func (r *Replica) emit(kind string, body any) { r.Host.Emit(kind, r.Index, body) }

// diverged passes an error that may come from a number that is not finite to the host.
func (r *Replica) diverged(doing string, err error) error {
	return r.Host.Diverged(r.Index, doing, err)
}
