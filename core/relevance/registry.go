package relevance

import (
	"cmp"
	"fmt"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/registry"
	"pgrlab/core/replay"
)

// Spec is a relevance function in the registry: everything that lists, knobs, presets and the
// training loop know about it. A function is one file of this package that registers itself with
// var _ = register(Spec{…}).
type Spec struct {
	Name     string // in the knob's value, the table of settings and the saved model
	Doc      string // one line
	Equation string // F of a transition (s, a, r, s′)
	Source   string // where it comes from
	Learning Learning
	// Valued says that New refuses Deps without Values.
	Valued bool
	// Config holds the default settings, a struct with toml tags that a configuration has
	// in its table Name; nil if there is nothing to set. For a function that learns in
	// steps it embeds a Cadence.
	Config Config
	// New makes the function.
	New func(Deps) (Function, error)
}

// Learning is when a function learns from real transitions.
type Learning int

const (
	// LearnsNothing marks a function of the transition and the agent alone; it has no state.
	LearnsNothing Learning = iota
	// LearnsInSteps marks a function that makes gradient steps during the run: a Trained.
	LearnsInSteps
	// LearnsFromScratch marks a function that is rebuilt from all real transitions before each scoring: a
	// Counted.
	LearnsFromScratch
	// LearnsInRounds marks a function that is given every env step of a learner that keeps
	// rollouts, and learns from them in rounds: an Episodic.
	LearnsInRounds
	// LearnsFromAll marks a formula that is measured on all real transitions before each scoring: a
	// Measured.
	LearnsFromAll
	// LearnsWithGenerator marks a function of what the generator's models predict (Deps.Models): a
	// Fitted.
	LearnsWithGenerator
)

// HasRate says whether the function learns by gradient steps; its Config then has their learning rate
// under the key lr.
func (s Spec) HasRate() bool { return s.Learning == LearnsInSteps || s.Learning == LearnsInRounds }

// Config holds the settings of a function.
type Config interface {
	// Validate says in one line what is wrong, beginning with the function's name,
	// or returns nil.
	Validate() error
	// Memory estimates how many bytes the function takes for transitions of that shape; the
	// estimate is never much too high. It does not overflow.
	Memory(shape replay.Shape) float64
}

// Cadence is how often a function that learns in steps makes a step.
type Cadence struct {
	// Every is how many critic updates lie between updates of the model; 0: one per env step, after
	// its last critic update. For learners that are not given batches of D_real, as DrQ-v2 and PPO,
	// it is env steps instead.
	Every  int `toml:"every"`
	Warmup int `toml:"warmup"` // most updates that are made up for before a refit if the model was not in use
}

// Pace returns c, so that a Config that embeds a Cadence is Paced.
func (c Cadence) Pace() Cadence { return c }

// Paced is a Config with a Cadence.
type Paced interface {
	Config
	Pace() Cadence
}

// ConfigOfEpisodes is a Config of an Episodic.
type ConfigOfEpisodes interface {
	Config
	// MemoryIn is Memory for that many copies of the environment that step together, with frames if
	// f is not zero.
	MemoryIn(shape replay.Shape, f Frames, copies int) float64
	// FirstRound is the number of env steps of so many copies after which the function first learns,
	// and then between two rounds.
	FirstRound(copies int) int
	// Trial returns settings with which an env step costs about as much, on average, but rounds come
	// as soon as they can: after a multiple of that many env steps.
	Trial(copies, envSteps int) Config
}

// Deps is what New may use.
type Deps struct {
	Config Config // of the same type as Spec.Config; nil: Spec.Config itself
	Values Values // of the agent; nil if it has none
	Models Models // that the generator learns; nil if it has none
	Shape  replay.Shape
	Met    replay.Shape // of the environment's own transitions
	Copies int          // of the environment that step together
	// Log is what the run has observed, for a function that learns in rounds. It holds as many env steps as
	// the function's FirstRound.
	Log    *experience.Log
	Frames Frames // that the transitions were made from; zero: numbers, or the environment's own transitions
	Made   bool   // the learner makes the transitions from the environment's own
	Device device.Device
	Seed   uint64 // of the run; functions draw from streams of their own name
}

// None is the name of the function without relevance.
const None = "none"

// specs are in the order in which lists show them: functions that learn in steps, those
// that learn again, those that learn in rounds, those that learn with the generator, the others, and
// None; each group by name.
var specs = registry.List[Spec, Config]{What: "relevance is %q", Compare: listed}

// Part is what the registry reads of s.
func (s Spec) Part() (name, doc string, settings Config) { return s.Name, s.Doc, s.Config }

func register(s Spec) Spec {
	switch _, paced := s.Config.(Paced); {
	case s.Equation == "" || s.New == nil:
		panic("relevance: " + s.Name + " lacks its equation or New")
	case paced != (s.Learning == LearnsInSteps):
		panic("relevance: " + s.Name + " has to have a Cadence if, and only if, it learns in steps")
	}
	specs.Add(s)
	nameable(s)
	return s
}

func listed(a, b Spec) int {
	group := func(s Spec) int {
		switch {
		case s.Name == None:
			return 5
		case s.Learning == LearnsNothing:
			return 4
		case s.Learning == LearnsWithGenerator:
			return 3
		case s.Learning == LearnsInRounds:
			return 2
		case s.Learning == LearnsFromScratch:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(a.Name, b.Name))
}

// Specs lists the relevance functions.
func Specs() []Spec { return specs.All() }

// Names are the names of Specs.
func Names() []string { return specs.Names() }

// Choices are the names of the functions that can score any rows in any run: all but those that learn in
// rounds or with the generator.
func Choices() []string {
	others := append(NamesOf(LearnsInRounds), NamesOf(LearnsWithGenerator)...)
	return slices.DeleteFunc(Names(), func(name string) bool { return slices.Contains(others, name) })
}

// NamesOf are the names of the functions that learn in that way.
func NamesOf(how Learning) (names []string) {
	for _, s := range specs.All() {
		if s.Learning == how {
			names = append(names, s.Name)
		}
	}
	return names
}

// Find returns the relevance function of that name, which may be a formula. An unknown name is an error
// that names the nearest one.
func Find(name string) (Spec, error) {
	if IsFormula(name) {
		return found(name)
	}
	return specs.Find(name)
}

// New makes the relevance function of that name.
func New(name string, d Deps) (*Model, error) {
	s, err := Find(name)
	if err != nil {
		return nil, err
	}
	if d.Config == nil {
		d.Config = s.Config
	}
	f, err := s.New(d)
	if err != nil {
		return nil, err
	}
	return Of(f), nil
}

// valued returns a Spec.New for a function that is computed from the agent's estimates.
func valued(name string, of func(Values) Function) func(Deps) (Function, error) {
	return func(d Deps) (Function, error) {
		if d.Values == nil {
			return nil, fmt.Errorf("relevance %q: the agent's estimates, which it is computed from, are missing", name)
		}
		return of(d.Values), nil
	}
}
