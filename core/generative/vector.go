package generative

import "pgrlab/core/replay"

// layout says where the parts of a transition stand in the vector of the
// diffusion, [s, a, r, s'(, d)], and in a row of the replay buffer,
// [s, a, r, s', d]: the same places, the row always with its terminal flag.
type layout struct {
	obs, act  int
	terminals bool
	raw       bool // and stored as the number that they come out as
}

func newLayout(c Config, shape replay.Shape) layout {
	return layout{obs: shape.Obs, act: shape.Act, terminals: c.ModelTerminals, raw: c.Terminals == TerminalsRaw}
}

// width is that of the vector.
func (l layout) width() int {
	if l.terminals {
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
// terminal flag is 1 above one half when it is modelled, or stays the number that it
// is, and 0 when it is not modelled. Actions go back into [-1,1] where the normaliser
// clamps; rounding can leave it.
func (l layout) finish(row []float32, clampActions bool) {
	last := l.terminal()
	switch {
	case l.terminals && l.raw:
	case l.terminals && row[last] > 0.5:
		row[last] = 1
	default:
		row[last] = 0
	}
	if clampActions {
		clamp(row[l.obs : l.obs+l.act])
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
