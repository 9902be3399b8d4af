package report

import (
	"math"
	"slices"
)

// Better is a probability of improvement.
type Better struct {
	P        float64   `json:"p"`
	Interval *Interval `json:"interval,omitempty"`
	// Permutation is the p of a permutation test of the probability, where there is an interval.
	Permutation *float64 `json:"permutation_p,omitempty"`
	N           [2]int   `json:"n"` // seeds of each row, those that diverged among them
}

// compare fills in the probabilities of improvement.
func (t *Task) compare() {
	if len(t.Rows) < 2 {
		return
	}
	for i, a := range t.Rows {
		t.Better = append(t.Better, make([]*Better, len(t.Rows)))
		for j, b := range t.Rows {
			if i == j || min(len(a.ranked()), len(b.ranked())) < MinPairs || dependent(a, b) {
				continue
			}
			t.Better[i][j] = better(a, b)
			if i > j && t.Better[i][j].Interval != nil { // p is the same in both directions
				x, y := ranks(a.ranked(), b.ranked())
				p := permuted(bootstrap.Sub("better p "+t.Task+" "+a.Label+" "+b.Label), x, y, Mean)
				t.Better[i][j].Permutation, t.Better[j][i].Permutation = &p, &p
				t.Comparisons++
			}
		}
	}
}

// ranked are the returns in which only the order counts: one that diverged is the worst.
func (r *Row) ranked() []float64 {
	return slices.Concat(r.Points, slices.Repeat([]float64{math.Inf(-1)}, len(r.diverged)))
}

func better(a, b *Row) *Better {
	x, y := a.ranked(), b.ranked()
	out := &Better{P: Improvement([][]float64{x}, [][]float64{y}), N: [2]int{len(x), len(y)}}
	if min(len(x), len(y)) < MinSeeds {
		return out
	}
	in := improvementInterval(out.P, len(x), len(y))
	out.Interval = &in
	return out
}

// improvementInterval returns the 95 % interval of a probability of improvement p of n runs over m: the
// probabilities t with (p − t)² ≤ z²·V(t), where V(t) is the variance of U/(n·m) for exponential scores
// (Hanley and McNeil 1982), with the mean size in place of n and m (Newcombe 2006, method 5). A bootstrap
// of few runs has no order but theirs: where all of one row are better it gives 1 to 1, and of two rows
// of five it held a true 0.87 in 78 of 100 simulated cases and 0.96 in 37, this one in 96 and 97.
func improvementInterval(p float64, n, m int) Interval {
	more := float64(n+m)/2 - 1
	accepts := func(t float64) bool {
		v := t * (1 - t) / float64(n*m) * (1 + more*((1-t)/(2-t)+t/(1+t)))
		return (p-t)*(p-t) <= z95*z95*v
	}
	edge := func(out float64) float64 {
		in := p
		for range 60 {
			if mid := (in + out) / 2; accepts(mid) {
				in = mid
			} else {
				out = mid
			}
		}
		return in
	}
	return Interval{edge(0), edge(1)}
}

// z95 is the quantile 0.975 of the normal distribution.
const z95 = 1.959963984540054
