package analysis

import (
	"math"
	"slices"
)

// Spearman returns the rank correlation of two scores of the same rows: Pearson's
// correlation of their ranks, where equal values share the mean of their ranks
// (Spearman 1904). It is NaN for fewer than two rows, if one of the scores is
// constant, and if a score is NaN.
func Spearman(a, b []float32) float64 {
	if len(a) != len(b) || len(a) < 2 || hasNaN(a) || hasNaN(b) {
		return math.NaN()
	}
	x, y := ranks(a), ranks(b)
	mean := float64(len(a)-1) / 2
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mean, y[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks returns the ranks of v from 0; equal values share the mean of their ranks.
func ranks(v []float32) []float64 {
	order := rising(v)
	out := make([]float64, len(v))
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && v[order[end]] == v[order[first]] {
			end++
		}
		for _, i := range order[first:end] {
			out[i] = float64(first+end-1) / 2
		}
		first = end
	}
	return out
}

// rising lists the indices of v in the order of its values; equal values keep their order.
func rising(v []float32) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case v[i] < v[j]:
			return -1
		case v[i] > v[j]:
			return 1
		}
		return 0
	})
	return order
}

// TopOverlap returns the share of the k = int(fraction·rows) rows with the largest a, at
// least one, that are among the k rows with the largest b. Two unrelated scores have an
// overlap of about fraction. It is NaN without rows and if a score is NaN.
func TopOverlap(a, b []float32, fraction float64) float64 {
	if len(a) != len(b) || len(a) == 0 || hasNaN(a) || hasNaN(b) {
		return math.NaN()
	}
	k := min(len(a), max(1, int(fraction*float64(len(a)))))
	of, with, both := topShares(a, k), topShares(b, k), 0.0
	for i := range of {
		both += min(of[i], with[i])
	}
	return both / float64(k)
}

// topShares says how much of each row is among the k largest: rows that tie for the last places share them.
func topShares(v []float32, k int) []float64 {
	least := v[rising(v)[len(v)-k]]
	above, ties := 0, 0
	for _, x := range v {
		switch {
		case x > least:
			above++
		case x == least:
			ties++
		}
	}
	all := make([]float64, len(v))
	for i, x := range v {
		switch {
		case x > least:
			all[i] = 1
		case x == least:
			all[i] = float64(k-above) / float64(ties)
		}
	}
	return all
}

func hasNaN(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x != x })
}
