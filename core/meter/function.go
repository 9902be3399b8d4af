package meter

import (
	"slices"

	"pgrlab/core/knob"
)

// function is what the work of one relevance function takes: F of a network and a count of rows have
// nothing in common.
type function struct {
	name  string
	score average // seconds of F of a transition
	warm  average // seconds of a unit of work that its model owes before a scoring
}

// of returns the function of that name, which it adds if there is none.
func (m *Meter) of(name string) *function {
	i := slices.IndexFunc(m.functions, func(f *function) bool { return f.name == name })
	if i < 0 {
		i, m.functions = len(m.functions), append(m.functions, &function{name: name})
	}
	return m.functions[i]
}

// MeasureScoring is Measure for phase score, while the function of that name is computed.
func (m *Meter) MeasureScoring(name string, n *int) func() {
	m.scoring = name
	return m.measure(knob.Score, n, &m.cost[knob.Score], &m.of(name).score)
}

// MeasureWarming is the same while its model does the work that it owes. A unit of that work takes a
// different time than F of a transition.
func (m *Meter) MeasureWarming(name string, n *int) func() {
	m.scoring = name
	return m.measure(knob.Score, n, &m.of(name).warm)
}

// scores returns the seconds of F of a transition and of a unit of owed work for the function of that
// name. F of one that was not measured yet is taken to cost what others did, and its owed work
// nothing, because the units of others are other work.
func (m *Meter) scores(name string) (score, warm float64) {
	score = m.cost[knob.Score].value
	i := slices.IndexFunc(m.functions, func(f *function) bool { return f.name == name })
	if i < 0 {
		return score, 0
	}
	f := m.functions[i]
	if f.score.weight > 0 {
		score = f.score.value
	}
	return score, f.warm.value
}

// FunctionState is what a State holds of a relevance function: the value and weight of each average.
type FunctionState struct {
	Name        string
	Score, Warm []float64
}

func (m *Meter) functionStates() (all []FunctionState) {
	for _, f := range m.functions {
		all = append(all, FunctionState{f.name, []float64{f.score.value, f.score.weight}, []float64{f.warm.value, f.warm.weight}})
	}
	return all
}

// restoreFunctions replaces what functions take by what functionStates returned.
func (m *Meter) restoreFunctions(all []FunctionState) {
	m.functions = nil
	for _, s := range all {
		if len(s.Score) == 2 && len(s.Warm) == 2 {
			f := m.of(s.Name)
			f.score, f.warm = average{s.Score[0], s.Score[1]}, average{s.Warm[0], s.Warm[1]}
		}
	}
}
