package relevance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/device"
	"pgrlab/core/replay"
	"pgrlab/core/spelling"
)

// Spec is a relevance function in the registry: all that lists, knobs, presets and
// the training loop know of it. A function is one file of this package that declares
// itself, var _ = register(Spec{…}).
type Spec struct {
	Name     string // of the knob's value, the table of settings and the saved model
	Doc      string // one line
	Equation string // F of a transition (s, a, r, s′)
	Source   string // where it comes from
	Learning Learning
	// Config are the default settings, a struct with toml tags, which stand in the
	// table Name of a configuration; nil where there is nothing to set. Of a function
	// that learns in steps it embeds a Cadence.
	Config Config
	// New makes the function.
	New func(Deps) (Function, error)
}

// Learning is when a function learns from real transitions.
type Learning int

const (
	// LearnsNothing is a function of the transition and the agent; it has no state.
	LearnsNothing Learning = iota
	// LearnsInSteps makes gradient steps while the run goes on: a Trained.
	LearnsInSteps
	// LearnsAnew is made from all real transitions before each scoring: a Counted.
	LearnsAnew
	// LearnsInRounds is told of every env step of a learner that keeps rollouts, and learns
	// now and then from what it was told: an Episodic.
	LearnsInRounds
)

// Config are settings of a function.
type Config interface {
	// Validate says in one line what is wrong, beginning with the function's name,
	// or returns nil.
	Validate() error
	// Memory is about how many bytes the function takes for transitions of that
	// shape, never much more than it will. It does not overflow.
	Memory(shape replay.Shape) float64
}

// Cadence is how often a function that learns in steps makes one.
type Cadence struct {
	Every  int `toml:"every"`  // critic updates between updates of the model; 0: one per env step, after its last critic update
	Warmup int `toml:"warmup"` // most updates that it makes up for when it was not in use before a refit
}

// Pace is the cadence, for who has a Config that embeds it.
func (c Cadence) Pace() Cadence { return c }

// Paced is a Config with a Cadence.
type Paced interface {
	Config
	Pace() Cadence
}

// ConfigOfEpisodes is a Config of an Episodic.
type ConfigOfEpisodes interface {
	Config
	// MemoryIn is Memory where so many copies of the environment step together, of frames where
	// there are some.
	MemoryIn(shape replay.Shape, f Frames, copies int) float64
}

// Deps is what New may use.
type Deps struct {
	Config Config // as Spec.Config; nil: that one
	Values Values // of the agent; nil where there is none
	Shape  replay.Shape
	Met    replay.Shape // of the environment's own transitions
	Copies int          // of the environment, that step together
	Frames Frames       // what the transitions were made from; zero: numbers, or they are the environment's own
	Made   bool         // the transitions are made by the learner from the environment's own
	Device device.Device
	Seed   uint64 // of the run; functions draw from streams of their own name
}

// None is the function without relevance.
const None = "none"

// specs are in the order in which lists show them: functions that learn in steps, those
// that learn anew, those that learn in rounds, the others, and None; each group by name.
var specs []Spec

func register(s Spec) Spec {
	at, taken := slices.BinarySearchFunc(specs, s, listed)
	_, paced := s.Config.(Paced)
	switch {
	case taken:
		panic("relevance: two functions are called " + s.Name)
	case s.Name == "" || s.Doc == "" || s.Equation == "" || s.New == nil:
		panic("relevance: " + s.Name + " lacks its name, doc, equation or New")
	case paced != (s.Learning == LearnsInSteps):
		panic("relevance: " + s.Name + " has to have a Cadence if, and only if, it learns in steps")
	}
	specs = slices.Insert(specs, at, s)
	return s
}

func listed(a, b Spec) int {
	group := func(s Spec) int {
		switch {
		case s.Name == None:
			return 4
		case s.Learning == LearnsNothing:
			return 3
		case s.Learning == LearnsInRounds:
			return 2
		case s.Learning == LearnsAnew:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(a.Name, b.Name))
}

// Specs lists the relevance functions.
func Specs() []Spec { return slices.Clone(specs) }

// Names are the names of Specs.
func Names() []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	return names
}

// Choices are the names of the functions that can be asked of any rows: all but those that are
// told of env steps.
func Choices() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return slices.Contains(NamesOf(LearnsInRounds), name) })
}

// NamesOf are the names of the functions that learn like that.
func NamesOf(how Learning) (names []string) {
	for _, s := range specs {
		if s.Learning == how {
			names = append(names, s.Name)
		}
	}
	return names
}

// Find returns the relevance function of that name. An unknown name is an error that
// names the nearest one.
func Find(name string) (Spec, error) {
	for _, s := range specs {
		if s.Name == name {
			return s, nil
		}
	}
	if near := spelling.Nearest(name, Names()); near != "" {
		return Spec{}, fmt.Errorf("relevance %q is unknown; did you mean %q? (%s)", name, near, strings.Join(Names(), ", "))
	}
	return Spec{}, fmt.Errorf("relevance %q is unknown; there are %s", name, strings.Join(Names(), ", "))
}

// New makes the relevance function of that name.
func New(name string, d Deps) (Function, error) {
	s, err := Find(name)
	if err != nil {
		return nil, err
	}
	if d.Config == nil {
		d.Config = s.Config
	}
	return s.New(d)
}

// valued makes a function of the agent's estimates.
func valued(name string, of func(Values) Function) func(Deps) (Function, error) {
	return func(d Deps) (Function, error) {
		if d.Values == nil {
			return nil, fmt.Errorf("relevance %q: the agent's estimates, which it is computed from, are missing", name)
		}
		return of(d.Values), nil
	}
}
