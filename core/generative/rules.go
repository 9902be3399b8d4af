package generative

import "math"

// rules are what a task says of its transitions, which heads need not learn.
type rules struct {
	directions [][2]int                            // pairs of s and of s' of norm 1
	ends       func(obs, act, next []float32) bool // nil: d is predicted
}

// newRules returns the rules that the rows of a configuration follow. A pair of s and a that was
// generated with raw angles (AnglesRaw) is left as it is, and so is a raw terminal flag.
func newRules(l headLayout, d Deps) rules {
	var r rules
	if l.pairs && d.Config.Angles == AnglesPhase {
		r.directions = d.Directions
	}
	if l.terminals && !l.raw {
		r.ends = d.Ends
	}
	return r
}

// straighten scales the directions of an observation to norm 1.
func (r rules) straighten(obs []float32) {
	for _, p := range r.directions {
		x, y := float64(obs[p[0]]), float64(obs[p[1]])
		if norm := math.Hypot(x, y); norm > 0 {
			obs[p[0]], obs[p[1]] = float32(x/norm), float32(y/norm)
		}
	}
}

// end is the terminal flag of a row by the task's rule.
func (r rules) end(l headLayout, row []float32) float32 {
	if r.ends(row[:l.obs], row[l.obs:l.reward()], row[l.reward()+1:l.terminal()]) {
		return 1
	}
	return 0
}
