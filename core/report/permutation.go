package report

import (
	"bufio"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/rng"
)

const (
	// maxDivisions is the most ways to divide the seeds of two rows of which all are tried: two rows of
	// ten seeds have 184,756.
	maxDivisions = 200_000
	// someDivisions are tried, at random, where there are more.
	someDivisions = 10_000
)

// permuted returns the two-sided p of a permutation test: the share of the ways to divide the points of
// a and b into groups of the same sizes in which the statistic, which gets sorted points, differs at
// least as much as between a and b. If the ways are too many, some that the stream draws stand for
// all, beside the one that was seen (Phipson and Smyth 2010).
func permuted(s rng.Stream, a, b []float64, statistic func(sorted []float64) float64) float64 {
	d := newDivision(a, b, statistic)
	seen := math.Abs(statistic(slices.Sorted(slices.Values(a))) - statistic(slices.Sorted(slices.Values(b))))
	seen -= 1e-12 * max(math.Abs(d.all[0]), math.Abs(d.all[len(d.all)-1])) // what rounding adds or takes away
	hits, n := 0, 0
	if divisions(len(a), len(b)) > maxDivisions {
		for hits, n = 1, 1; n <= someDivisions; n++ {
			d.draw(s.At(uint64(n)))
			if d.difference() >= seen {
				hits++
			}
		}
		return float64(hits) / float64(n)
	}
	for more := true; more; more = d.next() {
		n++
		if d.difference() >= seen {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// divisions is the number of ways to take n of n + m points.
func divisions(n, m int) float64 {
	ways := 1.0
	for i := range min(n, m) {
		ways *= float64(n+m-i) / float64(i+1)
	}
	return math.Round(ways)
}

// division is a way to divide points into two groups.
type division struct {
	all       []float64 // sorted
	taken     []bool    // whether a point is in the first group
	of        [2][]float64
	first     int // size of the first group
	statistic func(sorted []float64) float64
}

// newDivision begins with the first way: the smallest points are in the first group.
func newDivision(a, b []float64, statistic func(sorted []float64) float64) *division {
	d := &division{all: slices.Sorted(slices.Values(slices.Concat(a, b))), first: len(a), statistic: statistic}
	d.taken = make([]bool, len(d.all))
	for i := range a {
		d.taken[i] = true
	}
	return d
}

// next goes to the next way; false if it was the last one. Of the points in the first group the last
// one that can move up does, and those above it follow it.
func (d *division) next() bool {
	above := 0 // taken points above i
	for i := len(d.taken) - 2; i >= 0; i-- {
		if d.taken[i+1] {
			above++
		}
		if !d.taken[i] || d.taken[i+1] {
			continue
		}
		d.taken[i] = false
		for k := i + 1; k < len(d.taken); k++ {
			d.taken[k] = k <= i+1+above
		}
		return true
	}
	return false
}

// draw takes a way at random.
func (d *division) draw(numbers *rng.Sequence) {
	left := d.first
	for i := range d.taken {
		d.taken[i] = numbers.IntN(len(d.taken)-i) < left
		if d.taken[i] {
			left--
		}
	}
}

// difference is the distance of the groups' statistics.
func (d *division) difference() float64 {
	x, y := d.of[0][:0], d.of[1][:0]
	for i, v := range d.all {
		if d.taken[i] {
			x = append(x, v)
		} else {
			y = append(y, v)
		}
	}
	d.of = [2][]float64{x, y}
	return math.Abs(d.statistic(x) - d.statistic(y))
}

// sortedIQM is IQM of sorted values.
func sortedIQM(x []float64) float64 {
	cut := len(x) / 4
	return Mean(x[cut : len(x)-cut])
}

// ranks replaces the values of two samples by their ranks among all, from 1; equal values have the mean
// of theirs. The difference of mean ranks is that of U from its middle (Mann and Whitney 1947).
func ranks(a, b []float64) (x, y []float64) {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	of := func(v float64) float64 {
		below, _ := slices.BinarySearch(all, v)
		equal := 0
		for _, w := range all[below:] {
			if w == v {
				equal++
			}
		}
		return float64(below) + float64(equal+1)/2
	}
	for _, v := range a {
		x = append(x, of(v))
	}
	for _, v := range b {
		y = append(y, of(v))
	}
	return x, y
}

// family says how many comparisons a table has, and what follows for a single one.
func family(comparisons int) string {
	switch comparisons {
	case 0:
		return ""
	case 1:
		return " One comparison has a p."
	}
	return fmt.Sprintf(" %d comparisons have a p: one that is to stand for itself needs p below 0.05/%d = %s.", comparisons, comparisons, probability(0.05/float64(comparisons)))
}

// permutations writes what p is in the tables of a task that have it.
func (t *Task) permutations(b *bufio.Writer) {
	if t.Comparisons > 0 || len(t.Differences) > 0 {
		fmt.Fprint(b, "\np is that of a two-sided permutation test of the same number: the share of the ways to divide the seeds of both rows between them that give one at least as far from no difference. It supposes that without a difference both rows have one distribution, and may be small where they differ in spread alone: of simulated rows with one middle, one of which spreads twice as much, 10 of 100 have p below 0.05 at ten seeds each, and 21 if the other row has thirty, where the interval leaves out 0 in 6 or 7. Of many comparisons in which nothing differs, one in twenty has p below 0.05.\n")
	}
}

// probability formats a p with two significant digits.
func probability(p float64) string { return fmt.Sprintf("%.2g", p) }
