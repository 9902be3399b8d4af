package relevance

import (
	"fmt"
	"strings"

	"pgrlab/core/replay"
	"pgrlab/core/spelling"
)

// Function scores transitions.
type Function interface {
	// Name is the function's name in New.
	Name() string
	// Score writes F of the first rows transitions of b to dst.
	Score(dst []float32, b *replay.Batch, rows int) error
}

// Values are a learner's estimates that return and td need; not every learner has them.
type Values interface {
	// Q writes Q(s, π(s)) of rows observations.
	Q(dst, obs []float32, rows int) error
	// TDError writes r + γ(1−d)·Q̄(s', π(s')) − Q(s,a) of rows transitions.
	TDError(dst []float32, b *replay.Batch, rows int) error
}

// Deps is what functions may need; a field that the chosen one does not use may be
// nil.
type Deps struct {
	Values Values
	ICM    *ICM
	RND    *RND
	Count  *Count
}

// functions lists the names in the order in which they are shown.
var functions = []struct {
	name string
	make func(Deps) Function
}{
	{"curiosity", func(d Deps) Function { return learned(d.ICM) }},
	{"rnd", func(d Deps) Function { return learned(d.RND) }},
	{"count", func(d Deps) Function { return learned(d.Count) }},
	{"td", func(d Deps) Function { return d.valued(tdError{d.Values}) }},
	{"td-signed", func(d Deps) Function { return d.valued(tdSigned{d.Values}) }},
	{"return", func(d Deps) Function { return d.valued(expectedReturn{d.Values}) }},
	{"reward", func(Deps) Function { return reward{} }},
	{"none", func(Deps) Function { return none{} }},
}

// valued is f, or nil without an agent's estimates.
func (d Deps) valued(f Function) Function {
	if d.Values == nil {
		return nil
	}
	return f
}

// learned is a model, or nil without one.
func learned[M any, F interface {
	*M
	Function
}](model F) Function {
	if model == nil {
		return nil
	}
	return model
}

// Names lists the relevance functions.
func Names() []string {
	names := make([]string, len(functions))
	for i, f := range functions {
		names[i] = f.name
	}
	return names
}

// New returns the relevance function of that name. An unknown name is an error
// that names the nearest one.
func New(name string, d Deps) (Function, error) {
	for _, f := range functions {
		if f.name != name {
			continue
		}
		if made := f.make(d); made != nil {
			return made, nil
		}
		return nil, fmt.Errorf("relevance %q: what it is computed from is missing", name)
	}
	if near := spelling.Nearest(name, Names()); near != "" {
		return nil, fmt.Errorf("relevance %q is unknown; did you mean %q? (%s)", name, near, strings.Join(Names(), ", "))
	}
	return nil, fmt.Errorf("relevance %q is unknown; there are %s", name, strings.Join(Names(), ", "))
}
