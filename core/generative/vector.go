package generative

import (
	"math"

	"pgrlab/core/replay"
)

// layout says where the parts of a transition are in the vector of the
// diffusion, [s, a, r, s'(, d)], and in a row of the replay buffer,
// [s, a, r, s', d]. The places are the same, but a row always has a terminal flag.
type layout struct {
	obs, act  int
	terminals bool
	raw       bool  // terminal flags are stored as the network outputs them
	pairs     bool  // the vector holds only s, a and the phases
	phases    []int // coordinates of s whose sine and cosine follow a, two numbers each
}

// newLayout returns the layout for transitions of a shape. turning lists the coordinates
// of an observation that are angles without limits.
func newLayout(c Config, shape replay.Shape, turning ...int) layout {
	l := layout{obs: shape.Obs, act: shape.Act, terminals: c.ModelTerminals, raw: c.Terminals == TerminalsRaw, pairs: c.Vector == VectorPair}
	if c.Angles == AnglesPhase && l.pairs {
		l.phases = turning
	}
	return l
}

// vectors returns the modelled vectors of real transitions, not normalised; a row may have
// further columns after the vector. A row is valid until the next one is asked for.
func (l layout) vectors(real Rows) Rows {
	if len(l.phases) == 0 || real == nil {
		return real
	}
	return phased{real, l, make([]float32, l.width())}
}

// phased appends the phases of the angles to pairs (s, a).
type phased struct {
	Rows
	layout layout
	vector []float32
}

func (p phased) Row(i int) []float32 {
	l := p.layout
	after := p.vector[copy(p.vector, p.Rows.Row(i)[:l.obs+l.act]):]
	for k, j := range l.phases {
		sin, cos := math.Sincos(float64(p.vector[j]))
		after[2*k], after[2*k+1] = float32(sin), float32(cos)
	}
	return p.vector
}

// turn gives the angles of a vector the phases that follow a: each angle moves to the
// nearest number that has its phase. With limits this is the nearest one within the range of
// the fit: a head would otherwise limit s' to that range while s lies beyond it, and the
// change s' − s would be wrong by up to half a turn. A phase that no number of the range has
// gives an end of the range.
func (l layout) turn(vector []float32, limits *normaliser) {
	for k, j := range l.phases {
		after := vector[l.obs+l.act+2*k:]
		if after[0] == 0 && after[1] == 0 {
			continue // no direction
		}
		from := float64(vector[j])
		to := from + math.Remainder(math.Atan2(float64(after[0]), float64(after[1]))-from, 2*math.Pi)
		if limits != nil {
			to = limits.reach(j).turned(to)
		}
		vector[j] = float32(to)
	}
}

// turned returns an angle of the range that is whole turns from x, the nearest to x, or else
// an end of the range.
func (r interval) turned(x float64) float64 {
	switch up, down := x+2*math.Pi*math.Ceil((r.Low-x)/(2*math.Pi)), x-2*math.Pi*math.Ceil((x-r.High)/(2*math.Pi)); {
	case x < r.Low && up <= r.High:
		return up
	case x > r.High && down >= r.Low:
		return down
	}
	return r.bound(x)
}

// width is the width of the vector.
func (l layout) width() int {
	switch {
	case l.pairs:
		return l.obs + l.act + 2*len(l.phases)
	case l.terminals:
		return l.row()
	}
	return l.row() - 1
}

// row is the width of a row of the replay buffer.
func (l layout) row() int { return 2*l.obs + l.act + 2 }

// reward is the column of the reward.
func (l layout) reward() int { return l.obs + l.act }

// terminal is the column of the terminal flag.
func (l layout) terminal() int { return l.row() - 1 }

// finish turns an un-normalised vector in row[:width] into a transition. Everything that
// the vector does not model, such as the terminal flag, becomes 0. limits is the normaliser
// of vectors that are clamped, nil if they are not: with it angles stay within its range,
// and actions, which rounding can move, within [-1,1].
func (l layout) finish(row []float32, limits *normaliser) {
	switch {
	case l.pairs:
		l.turn(row, limits)
		clear(row[l.obs+l.act:])
	case l.terminals:
		l.end(row)
	default:
		row[l.terminal()] = 0
	}
	if limits != nil {
		clamp(row[l.obs : l.obs+l.act])
	}
}

// end sets a modelled terminal flag to 1 above one half and to 0 otherwise, or leaves a
// raw one as it is.
func (l layout) end(row []float32) {
	last := l.terminal()
	switch {
	case l.raw:
	case row[last] > 0.5:
		row[last] = 1
	default:
		row[last] = 0
	}
}

// clamp limits every element to [-1,1]; a NaN stays one.
func clamp(x []float32) {
	for i, v := range x {
		if v > 1 {
			x[i] = 1
		} else if v < -1 {
			x[i] = -1
		}
	}
}
