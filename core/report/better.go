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
			if i == j || min(len(a.ranked()), len(b.ranked())) < MinPairs || sameOrigin(a, b) {
				continue
			}
			t.Better[i][j] = better(a, b, t.Task)
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

func better(a, b *Row, task string) *Better {
	x, y := a.ranked(), b.ranked()
	out := &Better{P: Improvement([][]float64{x}, [][]float64{y}), N: [2]int{len(x), len(y)}}
	if min(len(x), len(y)) < MinSeeds {
		return out
	}
	in := Bootstrap(bootstrap.Sub("better "+task+" "+a.Label+" "+b.Label), [][]float64{x, y},
		func(s [][]float64) float64 { return Improvement(s[:1], s[1:]) })
	out.Interval = &in
	return out
}
