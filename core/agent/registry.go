package agent

import (
	"cmp"

	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/registry"
	"pgrlab/core/replay"
)

// Spec describes a learner in the registry: all that configurations, lists and the lab know
// about the learner before one is made. A learner is a package below this one that declares
// itself with func init() { agent.Register(agent.Spec{…}) }; package learners imports it.
type Spec struct {
	Name   string // the value of agent.learner, and of the learner's own settings and layers of a scale
	Doc    string // one line
	Source string
	// Batches says that the learner makes updates on batches of D_real (Made.Batches): only such
	// learners have priorities of transitions.
	Batches bool
	// Observes says that the learner takes every env step from Deps.Log: only such learners take F of episodes as they are met.
	Observes bool
	// Synthetic says that the learner also learns from synthetic transitions, if there are
	// any.
	Synthetic bool
	// Idle says that the learner neither acts nor learns: a run with it makes no env steps.
	Idle bool
	// Explores says that the learner also learns from F of synthetic rows, in their notes
	// (replay.Note.F), as it was when they were generated.
	Explores bool
	// Knobs are the learners' knobs (utd, batch, lr_actor, lr_critic, tau, entropy, tv) that
	// act on this one; a run refuses the others.
	Knobs []string
	// Settings are the defaults of the learner's own settings, a struct with toml tags for
	// the table agent.NAME; nil if it has none besides Config.
	Settings Settings
	// Discrete says that the learner chooses among the actions of a task.Task that is
	// Discrete; otherwise its actions are numbers.
	Discrete bool
	// Takes is what a task gives the learner to observe.
	Takes Takes
	// Describe says what the learner is like on a task, as it is known before one is made. The error
	// says in one line what it cannot do of Config. Configurations are described before anything else
	// of them was validated, and also without a task, when shapes are 0: Describe must not panic then, and
	// what does not depend on the task is right even beside an error. nil: a learner without Traits.
	Describe func(Deps) (Traits, error)
	// Memory is roughly how many bytes the learner takes if it makes updates on batches of
	// batch rows and its Activations are asked for looked rows at a time: never much more
	// than it will take. It does not overflow. nil: next to nothing.
	Memory func(d Deps, batch, looked int) float64
	New    func(Deps) (*Made, error)
}

// Traits are what a run has to know of a learner before it is made.
type Traits struct {
	// Random says that the actions are random until there is enough to learn from.
	Random bool
	// Reads is how many of the newest env steps of Deps.Log the learner reads; 0: it has no log, and
	// what it observes is kept elsewhere.
	Reads int
	// Rows is the shape of the transitions in D_real, which the learner then fills itself
	// in its phases (Work.Source), before a refit at the latest, with latents or the newest
	// rollouts. F, G and D_syn use the same shape, and so do the states given to Activations
	// and to Values. No shape: D_real holds the transitions of the environment.
	Rows replay.Shape
	// Makes is the most transitions of the environment that the learner makes D_real from if it
	// fills D_real itself; 0: as many as D_real has room for. If the learner sees frames, the run
	// keeps the frames of as many transitions.
	Makes int
	// NStep is the learner's setting n_step, the env steps in a row from which a row of a batch
	// of frames is drawn; 0: there is no such setting.
	NStep int
	// MostSynthetic is the most synthetic rows that the learner learns from for each row of its
	// rollout; 0: any number.
	MostSynthetic int
	// Follows names what of the learner depends on the length of the run, which therefore
	// cannot be made longer; "": nothing does.
	Follows string
	// Pace says when the learner makes updates; none: the knob utd says how many there are in each
	// env step after Deps.Start.
	Pace Pace
	// Trial are settings with which an env step costs as much, on average, but updates come
	// sooner, so that a trial of a few env steps measures them; nil: the settings do so as they
	// are.
	Trial Settings
	// Imagines says that the learner has a model of the world, which can predict (Made.OpenLoop).
	Imagines bool
	// Phases names the learner's own phases, as Made.Phases does once it is made.
	Phases []string
}

// Fills says whether the learner fills D_real itself.
func (t Traits) Fills() bool { return t.Rows != replay.Shape{} }

// Traits returns what Describe says.
func (s Spec) Traits(d Deps) (Traits, error) {
	if s.Describe == nil {
		return Traits{}, nil
	}
	return s.Describe(d)
}

// Pace is when a run makes critic updates: so many in each env step after From that is a multiple
// of Every.
type Pace struct{ From, Updates, Every int }

// First is the first env step with updates.
func (p Pace) First() int { return (p.From/p.Every + 1) * p.Every }

// Takes is what a task gives a learner to observe.
type Takes int

// The values of Takes. Acting.Stacks, BatchSource.Frames and Looks.Stacks are for a learner that takes
// frames.
const (
	TakesStates Takes = iota // observations
	TakesPixels              // frames
	TakesEither              // observations, or frames if a run's environment.observation says so
)

// Settings are one learner's own settings.
type Settings interface {
	// Validate says in one line what is wrong, or returns nil.
	Validate() error
}

// Deps is what a learner is made from.
type Deps struct {
	Config   Config
	Settings Settings     // as Spec.Settings
	Shape    replay.Shape // of the environment's transitions
	Sees     bool         // the learner is given frames; decides for a Spec with TakesEither
	Pixels   Pixels       // the frames, for a learner that sees them
	Copies   int          // of the environment, in which it acts at once
	Length   int          // env steps of the run
	Start    int          // random env steps of a learner that needs them
	Weighted bool         // each row of a batch counts by replay.Batch.Weight
	// Generates says that there is a generator, and so synthetic transitions.
	Generates bool
	Bonus     bool          // the observed rewards include a bonus
	Device    device.Device // nil if only sizes are asked for
	// Log is what the run has observed, for a learner that reads it; nil for one that only acts.
	Log  *experience.Log
	Seed uint64 // of the run; learners draw from streams of their own names
}

// Config is the table [agent] of a configuration. Learner, Hidden and Gamma are read by
// every learner; the others describe actor and critics, for those that have them.
type Config struct {
	Learner      string  `toml:"learner"`       // of the registry; "" stands for sac
	Hidden       []int   `toml:"hidden"`        // hidden layers of policy and critics
	Critics      int     `toml:"critics"`       // N
	Subset       int     `toml:"subset"`        // M critics in the target
	Gamma        float64 `toml:"gamma"`         // discount
	PolicyDelay  int     `toml:"policy_delay"`  // critic updates between policy updates within an env step
	PolicyQ      string  `toml:"policy_q"`      // "mean" or "min": the critics' value that the policy climbs
	InitialAlpha float64 `toml:"initial_alpha"` // α before its first update
	// TargetEntropy is the entropy that α steers to; 0: minus the number of action dimensions.
	TargetEntropy float64 `toml:"target_entropy"`
	Exploration   string  `toml:"exploration"` // "policy", "noisy" or "bootstrap": see package sac
	NoisySigma    float64 `toml:"-"`           // for "noisy": deviations start at this over √inputs
	Candidates    int     `toml:"-"`           // for "bootstrap": policy samples that a critic chooses from
	// Own are the learners' own settings: the table agent.LEARNER of a document.
	Own Own `toml:"-"`
}

// None is the learner of runs that have no agent.
const None = "none"

// DefaultLearner is the learner of configurations that name none.
const DefaultLearner = "sac"

// Spec returns the learner that c names, or an error that lists the registered ones.
func (c Config) Spec() (Spec, error) { return Find(cmp.Or(c.Learner, DefaultLearner)) }

// Own maps the names of learners to their settings: a table.Set. A learner without an entry
// has its defaults.
type Own map[string]Settings

// Defaults are the default settings of every learner that has its own.
func (Own) Defaults() map[string]any { return specs.Defaults() }

// Of returns a learner's own settings, nil if it has none.
func (o Own) Of(s Spec) Settings { return specs.Settings(o, s.Name) }

// specs are sorted by name, DefaultLearner first.
var specs = registry.List[Spec, Settings]{
	What: "agent.learner is %q", Compare: func(a, b Spec) int { return cmp.Compare(placed(a.Name), placed(b.Name)) },
}

// Part is what the registry reads of s.
func (s Spec) Part() (name, doc string, settings Settings) { return s.Name, s.Doc, s.Settings }

// Register adds a learner; its package calls Register in func init. It panics if the name is
// taken or if name, doc or New is missing.
func Register(s Spec) {
	if s.New == nil {
		panic("agent: " + s.Name + " lacks New")
	}
	specs.Add(s)
}

// placed returns the key that sorts a name, with DefaultLearner first.
func placed(name string) string {
	if name == DefaultLearner {
		return ""
	}
	return name
}

// Specs lists the learners.
func Specs() []Spec { return specs.All() }

// Find returns the learner of that name. An unknown name is an error that names the
// nearest one.
func Find(name string) (Spec, error) { return specs.Find(name) }
