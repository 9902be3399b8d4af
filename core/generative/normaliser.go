package generative

import (
	"fmt"
	"math"
)

// Rows are the real transitions, each as a row [s, a, r, s', d]; replay.Ring
// implements it. They must not change between the start of a fit and its end.
type Rows interface {
	Len() int
	Row(i int) []float32
}

// slack keeps the scale of a constant dimension above zero. Both reference
// normalisers use this number (renwang435/pgr and conglu1997/SynthER:
// synther/diffusion/norm.py).
const slack = 1e-5

// normaliser maps each dimension to (x − centre)/scale. Statistics are taken in
// float64: in float32 the slack would vanish beside a constant of 1,000.
type normaliser struct {
	centre, scale []float64
	coordinates   coordinates // of the normalised vectors; noise is added in them
}

// fitNormaliser takes the statistics of the first l.width() columns of rows. With
// NormaliserStandard a modelled terminal flag stays 0 or 1 (conglu1997/SynthER:
// synther/online/utils.py leaves that column out); otherwise rare ends would lie
// many deviations away from everything else.
func fitNormaliser(c Config, rows Rows, l layout) (normaliser, error) {
	least := 1
	if c.Normaliser == NormaliserStandard {
		least = 2 // the unbiased deviation of a single row is 0/0
	}
	if rows.Len() < least {
		return normaliser{}, fmt.Errorf("%d real transitions, want at least %d", rows.Len(), least)
	}
	width := l.width()
	n := normaliser{centre: make([]float64, width), scale: make([]float64, width)}
	if c.Normaliser == NormaliserStandard {
		n.fitStandard(rows)
	} else {
		n.fitMinMax(rows)
	}
	if c.SkipReward {
		n.centre[l.reward()], n.scale[l.reward()] = 0, 1
	}
	if c.Normaliser == NormaliserStandard && l.terminals && !l.pairs {
		n.centre[l.terminal()], n.scale[l.terminal()] = 0, 1
	}
	for j := range width {
		if sum := n.centre[j] + n.scale[j]; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return normaliser{}, fmt.Errorf("column %d of the real transitions is not finite", j)
		}
	}
	var err error
	n.coordinates, err = fitCoordinates(c, rows, n)
	return n, err
}

// fitMinMax maps the minimum to −1 and the maximum + 1e-5 to 1.
func (n normaliser) fitMinMax(rows Rows) {
	low, high := make([]float64, len(n.centre)), make([]float64, len(n.centre))
	for j := range low {
		low[j], high[j] = math.Inf(1), math.Inf(-1)
	}
	for i := range rows.Len() {
		for j, x := range rows.Row(i)[:len(low)] {
			// Min and Max let NaN win, so that fitNormaliser can report it.
			low[j], high[j] = math.Min(low[j], float64(x)), math.Max(high[j], float64(x))
		}
	}
	for j := range low {
		n.scale[j] = (high[j] - low[j] + slack) / 2
		n.centre[j] = low[j] + n.scale[j]
	}
}

// fitStandard maps to mean 0 and deviation 1. The deviation is the unbiased one, as
// in torch.std, plus 1e-5.
func (n normaliser) fitStandard(rows Rows) {
	count := float64(rows.Len())
	for i := range rows.Len() {
		for j, x := range rows.Row(i)[:len(n.centre)] {
			n.centre[j] += float64(x)
		}
	}
	for j := range n.centre {
		n.centre[j] /= count
	}
	for i := range rows.Len() {
		for j, x := range rows.Row(i)[:len(n.centre)] {
			deviation := float64(x) - n.centre[j]
			n.scale[j] += deviation * deviation
		}
	}
	for j := range n.scale {
		n.scale[j] = math.Sqrt(n.scale[j]/(count-1)) + slack
	}
}

// normalise writes the vector of a row.
func (n normaliser) normalise(dst, row []float32) {
	for j, c := range n.centre {
		dst[j] = float32((float64(row[j]) - c) / n.scale[j])
	}
}

// reach is the range of column j that is normalised to [−1, 1]; with NormaliserMinMax that
// of the rows.
func (n normaliser) reach(j int) interval {
	return interval{n.centre[j] - n.scale[j], n.centre[j] + n.scale[j]}
}

// restore is the inverse of normalise.
func (n normaliser) restore(dst, x []float32) {
	for j, c := range n.centre {
		dst[j] = float32(float64(x[j])*n.scale[j] + c)
	}
}
