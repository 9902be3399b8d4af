package generative

import (
	"cmp"

	"pgrlab/core/device"
	"pgrlab/core/registry"
	"pgrlab/core/replay"
)

// Spec describes a kind of generator in the registry: everything that the rest of the
// program uses of it before one is made. A kind is one file of this package that
// registers itself with var _ = register(Spec{…}).
type Spec struct {
	Kind   string // value of generator.kind, and name of the table of its own settings
	Doc    string // one line
	Source string
	// Denoises says that the kind samples step by step from noise, with one estimate under
	// the condition and one without: guidance, p_uncond, sampler_steps and s_churn act on it.
	Denoises bool
	// Learns says that a fit makes gradient steps: generator_steps and lr_generator act on it.
	Learns bool
	// RollsOut says that a generation rolls out the agent's policy as it is then, in a model of the
	// dynamics: horizon acts on it, and another generation of the same occasion would differ.
	RollsOut bool
	// Models returns the ensemble of models that a generator with these settings rolls out; the
	// error says why its predictions cannot be compared. Without a generator only the error counts.
	// nil: the kind has none.
	Models func(Settings, Generator) (Models, error)
	// Settings are the defaults of the kind's own settings, a struct with toml tags in the
	// table generator.KIND; nil if it has only the shared ones.
	Settings Settings
	// Check returns an error for shared settings that the kind does not support; nil: it
	// supports all.
	Check func(Config) error
	New   func(Deps) (Generator, error)
}

// Settings are the own settings of one kind of generator.
type Settings interface {
	// Validate says in one line what is wrong, or returns nil.
	Validate() error
	// Memory estimates how many bytes the generator takes for rows of that width, without
	// the transitions that it makes. The estimate never exceeds the use by much, and it
	// does not overflow.
	Memory(shared Config, width int) float64
}

// Deps are the arguments of Spec.New.
type Deps struct {
	Config   Config
	Settings Settings // as Spec.Settings
	Shape    replay.Shape
	Device   device.Device
	Seed     uint64
	// Turning are the coordinates of an observation that are angles without limits, Directions
	// pairs of coordinates that are the cosine and the sine of one angle, in either order.
	Turning    []int
	Directions [][2]int
	// Policy is for generators that roll out a model; nil if there is no agent.
	Policy Policy
	// Ends says whether a transition ends an episode by itself; nil: none does, or it is unknown.
	Ends func(obs, act, next []float32) bool
}

// specs are sorted by kind.
var specs = registry.List[Spec, Settings]{
	What: "generator.kind is %q", Else: []string{"none"},
	Compare: func(a, b Spec) int { return cmp.Compare(a.Kind, b.Kind) },
}

// Part is what the registry reads of s.
func (s Spec) Part() (name, doc string, settings Settings) { return s.Kind, s.Doc, s.Settings }

func register(s Spec) Spec {
	if s.New == nil {
		panic("generative: " + s.Kind + " lacks New")
	}
	specs.Add(s)
	return s
}

// Specs lists the kinds of generators.
func Specs() []Spec { return specs.All() }

// Find returns the Spec of a kind. An unknown kind is an error that names the nearest one.
func Find(kind string) (Spec, error) { return specs.Find(kind) }

// Kinds maps kinds of generators to their own settings. It is a table.Set: a missing kind
// has its default settings.
type Kinds map[string]Settings

// Defaults returns the default settings of every kind that has settings of its own.
func (Kinds) Defaults() map[string]any { return specs.Defaults() }

// Of returns the own settings of a kind, nil if it has none.
func (k Kinds) Of(kind string) Settings { return specs.Settings(k, kind) }
