package dynamics

import (
	"fmt"
	"math"
)

// Data are what a fit learns from. They must not change until it is complete.
type Data interface {
	Len() int
	// Pairs writes the inputs [s, a] of some rows, one after the other, and their outcomes.
	Pairs(rows []int32, in, out []float32)
	// Learn writes them as the gradient step at a place learns them, which may be with noise.
	Learn(at Place, rows []int32, in, out []float32)
}

// Place is the batch of a member in a step of a fit.
type Place struct {
	Refit        uint64
	Step, Member int
}

// Scale are the means and deviations by which numbers are standardised.
type Scale struct{ Mean, Deviation []float64 }

// unscaled leaves n numbers as they are.
func unscaled(n int) Scale {
	s := Scale{make([]float64, n), make([]float64, n)}
	for i := range n {
		s.Deviation[i] = 1
	}
	return s
}

// standardise writes (x − mean)/deviation of whole rows.
func (s Scale) standardise(dst, x []float32) {
	for len(dst) > 0 {
		to, from := dst[:len(s.Mean)], x[:len(s.Mean)]
		for i, mean := range s.Mean {
			to[i] = float32((float64(from[i]) - mean) / s.Deviation[i])
		}
		dst, x = dst[len(to):], x[len(to):]
	}
}

// smallest is the deviation below which a column counts as constant: its deviation is 1
// (mbpo/models/utils.py).
const smallest = 1e-12

// statistics is the step of the Place at which the rows are learned that scales are taken of: a model whose rows
// have noise is standardised by what it learns from, as MAX's normaliser is.
const statistics = -1

// measure returns the scales of inputs and outcomes over some rows of data, batch rows at a time: means and biased
// deviations.
func measure(data Data, refit uint64, batch int, rows []int32, in, out int) (of [2]Scale, err error) {
	x, y := make([]float32, batch*in), make([]float32, batch*out)
	of = [2]Scale{{make([]float64, in), make([]float64, in)}, {make([]float64, out), make([]float64, out)}}
	count := float64(len(rows))
	each := func(do func(s Scale, j int, v float64)) {
		for first := 0; first < len(rows); first += batch {
			n := min(batch, len(rows)-first)
			data.Learn(Place{refit, statistics, first / batch}, rows[first:first+n], x, y)
			for i := range n {
				for k, part := range [][]float32{x[i*in : (i+1)*in], y[i*out : (i+1)*out]} {
					for j, v := range part {
						do(of[k], j, float64(v))
					}
				}
			}
		}
	}
	each(func(s Scale, j int, v float64) { s.Mean[j] += v / count })
	each(func(s Scale, j int, v float64) { s.Deviation[j] += (v - s.Mean[j]) * (v - s.Mean[j]) / count })
	for k, s := range of {
		for j, v := range s.Deviation {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return of, fmt.Errorf("column %d of the %s of the real transitions is not finite", j, []string{"inputs", "outcomes"}[k])
			}
			if s.Deviation[j] = math.Sqrt(v); s.Deviation[j] < smallest {
				s.Deviation[j] = 1
			}
		}
	}
	return of, nil
}
