package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/device"
	"pgrlab/core/replay"
	"pgrlab/core/spelling"
)

// Spec is a learner in the registry: all that configurations, lists and the lab know of
// it before one is made. A learner is a package below this one that declares itself,
// func init() { agent.Register(agent.Spec{…}) }, and that package learners imports.
type Spec struct {
	Name   string // of agent.learner, its own settings and the layers of a scale that are its own
	Doc    string // one line
	Source string
	// OffPolicy says that it is an OffPolicy: batches of D_real and priorities of
	// transitions are for such learners.
	OffPolicy bool
	// Synthetic says that it learns from synthetic transitions as well, where there are
	// some.
	Synthetic bool
	// Knobs are those of the knobs utd, batch, lr_actor, lr_critic and tau that act on
	// it; a run refuses the others.
	Knobs []string
	// Settings are the defaults of its own settings, a struct with toml tags in the table
	// agent.NAME; nil where those of Config are all.
	Settings Settings
	// Discrete says that it chooses among actions, of a task.Task that is Discrete; else its
	// actions are numbers.
	Discrete bool
	// Takes is what it is given of a task.
	Takes Takes
	// Check says in one line what it cannot do of Config; nil where it can do all.
	Check func(Deps) error
	// Rows is the shape of the transitions in D_real, which the learner then fills itself
	// in its phases (Work.Source), before a refit at the latest: with latents, or the
	// newest rollouts. F, G and D_syn are of the same shape, and so are the states that
	// Activations gets and those of package relevance's values. nil, or no shape: D_real
	// holds the transitions of the environment.
	Rows func(Deps) replay.Shape
	// Keeps is how many transitions of the environment D_real is made of at most by a learner that
	// fills it; nil, or 0: as many as it has room for. Of who sees frames the run keeps those of
	// as many env steps.
	Keeps func(Deps) int
	// Mixes says in one line why it cannot learn from batches of such a mix; nil: it can from
	// all.
	Mixes func(replay.Mix) error
	// Follows says what of the learner follows the length of the run, so that the run cannot be
	// made longer; nil, or "": nothing does.
	Follows func(Deps) string
	// Memory is about how many bytes it takes that makes updates on batches of so many
	// rows and is looked at that many rows at a time: never much more than it will. It
	// does not overflow. nil: next to nothing.
	Memory func(d Deps, batch, looked int) float64
	New    func(Deps) (Learner, error)
}

// Takes is what a learner is given of a task.
type Takes int

// What there is to take. Who takes frames is Sighted.
const (
	TakesStates Takes = iota // observations
	TakesPixels              // frames
	TakesEither              // observations, or frames where a run's environment.observation says so
)

// Settings are those that one learner has for itself.
type Settings interface {
	// Validate says in one line what is wrong, or returns nil.
	Validate() error
}

// Deps is what a learner is made from.
type Deps struct {
	Config   Config
	Settings Settings     // as Spec.Settings
	Shape    replay.Shape // of the environment's transitions
	Sees     bool         // it is given frames: what a Spec is told that takes either
	Pixels   Pixels       // what there is to see, for who sees frames
	Copies   int          // of the environment, that it acts in at once
	Length   int          // env steps of the run
	Weighted bool         // each row of a batch counts by replay.Batch.Weight
	// Generates says that there is a generator, and so synthetic transitions.
	Generates bool
	Bonus     bool          // rewards are observed with one on them
	Device    device.Device // nil where only sizes are asked for
	Seed      uint64        // of the run; learners draw from streams of their own names
}

// Config is the table [agent] of a configuration. Learner, Hidden and Gamma are read by
// every learner; the others describe actor and critics, for those that have them.
type Config struct {
	Learner       string  `toml:"learner"`        // of the registry; "" stands for sac
	Hidden        []int   `toml:"hidden"`         // hidden layers of policy and critics
	Critics       int     `toml:"critics"`        // N
	Subset        int     `toml:"subset"`         // M critics in the target
	Gamma         float64 `toml:"gamma"`          // discount
	PolicyDelay   int     `toml:"policy_delay"`   // critic updates between policy updates within an env step
	TargetEntropy float64 `toml:"target_entropy"` // 0: −dim(A)
	InitialAlpha  float64 `toml:"initial_alpha"`  // α before its first update
	Exploration   string  `toml:"exploration"`    // "policy", "noisy" or "bootstrap": see package sac
	NoisySigma    float64 `toml:"noisy_sigma"`    // of "noisy": deviations start at this over √inputs
	Candidates    int     `toml:"candidates"`     // of "bootstrap": policy samples that a critic chooses from
	// Own are the settings of each learner for itself: in a document the table
	// agent.LEARNER.
	Own Own `toml:"-"`
}

// DefaultLearner is the learner of configurations that name none.
const DefaultLearner = "sac"

// Spec is the learner that c names, or an error that names those there are.
func (c Config) Spec() (Spec, error) { return Find(cmp.Or(c.Learner, DefaultLearner)) }

// Own are settings by the names of their learners: a table.Set. A learner that it lacks
// has its defaults.
type Own map[string]Settings

// Defaults are the default settings of every learner that has its own.
func (Own) Defaults() map[string]any {
	all := map[string]any{}
	for _, s := range specs {
		if s.Settings != nil {
			all[s.Name] = s.Settings
		}
	}
	return all
}

// Of are the own settings of a learner, nil where it has none.
func (o Own) Of(s Spec) Settings {
	if own, ok := o[s.Name]; ok {
		return own
	}
	return s.Settings
}

// specs are sorted by name, DefaultLearner first.
var specs []Spec

// Register adds a learner. It is for func init of the learner's package, and panics where
// a learner is not whole.
func Register(s Spec) {
	at, taken := slices.BinarySearchFunc(specs, s, func(a, b Spec) int {
		return cmp.Compare(placed(a.Name), placed(b.Name))
	})
	switch {
	case taken:
		panic("agent: two learners are called " + s.Name)
	case s.Name == "" || s.Doc == "" || s.New == nil:
		panic("agent: " + s.Name + " lacks its name, doc or New")
	}
	specs = slices.Insert(specs, at, s)
}

// placed is a name by which DefaultLearner comes first.
func placed(name string) string {
	if name == DefaultLearner {
		return ""
	}
	return name
}

// Specs lists the learners.
func Specs() []Spec { return slices.Clone(specs) }

// Find returns the learner of that name. An unknown name is an error that names the
// nearest one.
func Find(name string) (Spec, error) {
	var names []string
	for _, s := range specs {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return Spec{}, fmt.Errorf("agent.learner is %q; did you mean %q? (%s)", name, near, strings.Join(names, ", "))
	}
	return Spec{}, fmt.Errorf("agent.learner is %q, want one of %s", name, strings.Join(names, ", "))
}

// RowShape is the shape of the transitions in D_real.
func (s Spec) RowShape(d Deps) replay.Shape {
	if s.Fills(d) {
		return s.Rows(d)
	}
	return d.Shape
}

// Fills says whether the learner fills D_real itself.
func (s Spec) Fills(d Deps) bool { return s.Rows != nil && s.Rows(d) != replay.Shape{} }
