package analysis

import (
	"math"
	"slices"
)

// coverageNeighbours is k of Coverage. As many generated rows as real ones, from the
// same distribution, cover 1 − 2⁻ᵏ of the real ones.
const coverageNeighbours = 5

// Coverage returns the share of real rows that have a generated row within the distance
// to their fifth nearest real neighbour (Naeem et al. 2020, Reliable fidelity and
// diversity metrics for generative models, §3.2). Generated rows for which copied is true
// do not count, so that repeating the training data covers nothing. Distances are as in
// Nearest.
func Coverage(generated, real [][]float32, s Scatter, copied func(i int) bool) float64 {
	columns, scale := measured(s)
	place := func(rows [][]float32) [][]float32 {
		out := make([][]float32, len(rows))
		for i, row := range rows {
			out[i] = appendScaled(make([]float32, 0, len(columns)), row, columns, scale)
		}
		return out
	}
	var fresh [][]float32
	for i, row := range generated {
		if !copied(i) {
			fresh = append(fresh, row)
		}
	}
	points, others := place(fresh), place(real)
	if len(others) <= coverageNeighbours {
		return math.NaN()
	}
	covered, distances := 0, make([]float32, len(others))
	infinite := float32(math.Inf(1))
	for _, at := range others {
		for j, other := range others {
			distances[j] = SquareWithin(at, other, infinite)
		}
		slices.Sort(distances) // the first is the row itself
		radius := distances[coverageNeighbours]
		if slices.ContainsFunc(points, func(p []float32) bool { return SquareWithin(p, at, radius) <= radius }) {
			covered++
		}
	}
	return float64(covered) / float64(len(others))
}

// copyShare is the share of the usual distance between real neighbours below which a
// generated row is a copy.
const copyShare = 0.05

// Copies says which generated rows are copies: those nearer to a real row than a
// twentieth of usual, the median distance between real neighbours. nearest holds the
// distances of the generated rows to their nearest real rows.
func Copies(nearest []float32, usual float64) []bool {
	out := make([]bool, len(nearest))
	for i, d := range nearest {
		out[i] = float64(d) < copyShare*usual
	}
	return out
}
