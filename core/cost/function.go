package cost

import (
	"slices"

	"pgrlab/core/knob"
)

// Function is what the work of one relevance function takes: F of a network and a count of rows have
// nothing in common.
type Function struct {
	Name  string
	Score Average // seconds of F of a transition
	Warm  Average // seconds of a unit of work that its model owes before a scoring
}

// of returns the function of that name, which it adds if there is none.
func (m *Meter) of(name string) *Function {
	i := slices.IndexFunc(m.Of, func(f Function) bool { return f.Name == name })
	if i < 0 {
		i, m.Of = len(m.Of), append(m.Of, Function{Name: name})
	}
	return &m.Of[i]
}

// MeasureScoring is Measure for phase score, while the function of that name is computed.
func (m *Meter) MeasureScoring(name string, n *int) func() {
	m.Scoring = name
	return m.measure(knob.Score, n, &m.Phases[knob.Score], &m.of(name).Score)
}

// MeasureWarming is the same while its model does the work that it owes. A unit of that work takes a
// different time than F of a transition.
func (m *Meter) MeasureWarming(name string, n *int) func() {
	m.Scoring = name
	return m.measure(knob.Score, n, &m.of(name).Warm)
}

// scores returns the seconds of F of a transition and of a unit of owed work for the function of that
// name. F of one that was not measured yet is taken to cost what others did, and its owed work
// nothing, because the units of others are other work.
func (m *Meter) scores(name string) (score, warm float64) {
	score = m.Phases[knob.Score].Value
	i := slices.IndexFunc(m.Of, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return score, 0
	}
	f := m.Of[i]
	if f.Score.Weight > 0 {
		score = f.Score.Value
	}
	return score, f.Warm.Value
}
