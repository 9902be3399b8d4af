package generative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// Spec is a kind of generator in the registry: all that the rest of the program knows of
// it before one is made. A kind is one file of this package that declares itself,
// var _ = register(Spec{…}).
type Spec struct {
	Kind   string // of generator.kind, and of its own settings
	Doc    string // one line
	Source string
	// Denoises says that it samples step by step from noise, by an estimate with and one
	// without the condition: guidance, p_uncond, sampler_steps and s_churn act on it.
	Denoises bool
	// Learns says that a fit makes gradient steps: generator_steps and lr_generator act on it.
	Learns bool
	// Settings are the defaults of its own settings, a struct with toml tags in the table
	// generator.KIND; nil where the shared ones are all.
	Settings Settings
	// Check says what it cannot do of the shared settings; nil where it can do all.
	Check func(Config) error
	New   func(Deps) (Generator, error)
}

// Settings are those of one kind of generator.
type Settings interface {
	// Validate says in one line what is wrong, or returns nil.
	Validate() error
	// Memory is about how many bytes it takes for rows of that width, beside the
	// transitions that it makes: never much more than it will. It does not overflow.
	Memory(shared Config, width int) float64
}

// Deps is what New may use.
type Deps struct {
	Config   Config
	Settings Settings // as Spec.Settings
	Shape    replay.Shape
	Device   device.Device
	Seed     uint64
	Turning  []int // coordinates of an observation that are angles without limits
	// Policy and Ends are for generators that roll out a model. Ends says whether a
	// transition ends an episode by itself; nil: none does. Policy may be nil where no
	// agent is.
	Policy Policy
	Ends   func(obs, act, next []float32) bool
}

// specs are sorted by kind.
var specs []Spec

func register(s Spec) Spec {
	at, taken := slices.BinarySearchFunc(specs, s, func(a, b Spec) int { return cmp.Compare(a.Kind, b.Kind) })
	switch {
	case taken:
		panic("generative: two kinds are called " + s.Kind)
	case s.Kind == "" || s.Doc == "" || s.New == nil:
		panic("generative: " + s.Kind + " lacks its kind, doc or New")
	}
	specs = slices.Insert(specs, at, s)
	return s
}

// Specs lists the kinds of generators.
func Specs() []Spec { return slices.Clone(specs) }

// Find returns the kind of that name.
func Find(kind string) (Spec, error) {
	var kinds []string
	for _, s := range specs {
		if s.Kind == kind {
			return s, nil
		}
		kinds = append(kinds, fmt.Sprintf("%q", s.Kind))
	}
	return Spec{}, fmt.Errorf("generator.kind is %q, want %s or \"none\"", kind, strings.Join(kinds, ", "))
}

// Kinds are the own settings of kinds of generators: a table.Set. A kind that it lacks
// has its defaults.
type Kinds map[string]Settings

// Defaults are the default settings of every kind that has its own.
func (Kinds) Defaults() map[string]any {
	all := map[string]any{}
	for _, s := range specs {
		if s.Settings != nil {
			all[s.Kind] = s.Settings
		}
	}
	return all
}

// Of are the own settings of a kind, nil where it has none.
func (k Kinds) Of(kind string) Settings {
	if own, ok := k[kind]; ok {
		return own
	}
	if s, err := Find(kind); err == nil {
		return s.Settings
	}
	return nil
}
