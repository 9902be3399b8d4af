package generative

import "pgrlab/core/replay"

// layout says where the parts of a transition stand in the vector of the
// diffusion, [s, a, r, s'(, d)], and in a row of the replay buffer,
// [s, a, r, s', d]: the same places, the row always with its terminal flag.
type layout struct {
	obs, act  int
	terminals bool
	raw       bool // and stored as the number that they come out as
	pairs     bool // only s and a are in the vector
}

func newLayout(c Config, shape replay.Shape) layout {
	return layout{obs: shape.Obs, act: shape.Act, terminals: c.ModelTerminals, raw: c.Terminals == TerminalsRaw, pairs: c.Vector == VectorPair}
}

// width is that of the vector.
func (l layout) width() int {
	switch {
	case l.pairs:
		return l.obs + l.act
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

// finish turns an un-normalised vector in row[:width] into a transition. The
// terminal flag is 0 when it is not modelled, as is all that is not in the vector. Actions go back into [-1,1] where the
// normaliser clamps; rounding can leave it.
func (l layout) finish(row []float32, clampActions bool) {
	switch {
	case l.pairs:
		clear(row[l.width():])
	case l.terminals:
		l.end(row)
	default:
		row[l.terminal()] = 0
	}
	if clampActions {
		clamp(row[l.obs : l.obs+l.act])
	}
}

// end makes a modelled terminal flag 1 above one half and else 0, or leaves it the
// number that it is.
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
