package report

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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

// quarter is how many of n values an interquartile mean leaves out at each end.
func quarter(n int) int { return n / 4 }

// sortedIQM is IQM of sorted values.
func sortedIQM(x []float64) float64 {
	cut := quarter(len(x))
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

// sizes are those of two groups that are compared.
type sizes struct {
	n, m int
	// even says that the groups differ as much if the smaller one has the largest points as if it has the
	// smallest: so it is with ranks, if none are equal.
	even bool
}

// leastP is the least p that permuted can give for groups of these sizes: that of groups of which one lies above
// the other. cut is how many points of a group the statistic leaves out at each end: those in the middle of all
// may be in either group then. Groups of one size may change places, and those that are even.
func leastP(of sizes, cut func(n int) int) float64 {
	ways := divisions(of.n, of.m)
	if ways > maxDivisions {
		return 1. / (someDivisions + 1)
	}
	as := divisions(cut(of.n), cut(of.m))
	if of.n == of.m || of.even {
		as *= 2
	}
	return as / ways
}

// level is the p below which one of a family stands for itself, by Bonferroni's inequality.
func level(comparisons int) float64 { return 0.05 / float64(max(1, comparisons)) }

// unreachable says which sizes of rows are too small for any p below the level of the family.
func unreachable(of []sizes, cut func(n int) int, level float64) string {
	least := map[[2]int]float64{}
	for _, s := range of {
		size := [2]int{min(s.n, s.m), max(s.n, s.m)}
		least[size] = min(leastP(s, cut), cmp.Or(least[size], 1))
	}
	var all []string
	for _, s := range slices.SortedFunc(maps.Keys(least), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if p := least[s]; p >= level {
			all = append(all, fmt.Sprintf("%d seeds against %d (%s or more)", s[0], s[1], probability(p)))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf(" No p of %s can be below %s, the bound of those that are picked from this report.", strings.Join(all, " or "), probability(level))
}

// compared are the sizes of the rows that have a p in the table of probabilities of improvement.
func (t *Task) compared() (all []sizes) {
	for i, row := range t.Better {
		for j, b := range row[:i] {
			if b != nil && b.Permutation != nil {
				points := slices.Sorted(slices.Values(slices.Concat(t.Rows[i].ranked(), t.Rows[j].ranked())))
				all = append(all, sizes{b.N[0], b.N[1], len(slices.Compact(points)) == b.N[0]+b.N[1]})
			}
		}
	}
	return all
}

// compared are the sizes of the rows whose difference is known.
func (d Differences) compared() (all []sizes) {
	for i, row := range d.Of {
		for _, v := range row[:i] {
			if v != nil {
				all = append(all, sizes{n: v.N[0], m: v.N[1]})
			}
		}
	}
	return all
}

// count adds up the p of all tables of all tasks.
func (r *Report) count() {
	r.Comparisons = 0
	for _, t := range r.Tasks {
		r.Comparisons += t.Comparisons
		for _, d := range t.Differences {
			r.Comparisons += d.Comparisons
		}
	}
	for _, t := range r.Tasks {
		t.level = level(r.Comparisons)
	}
}

// permutations writes what p is, and how many of them the report has.
func (r *Report) permutations(b *bufio.Writer) {
	if r.Comparisons == 0 {
		return
	}
	fmt.Fprint(b, "\n# What p says\n\np is that of a two-sided permutation test of the same number: the share of the ways to divide the seeds of both rows between them that give one at least as far from no difference. It supposes that without a difference both rows have one distribution, and may be small where they differ in spread alone: of simulated normal rows with one middle, one of which spreads twice as much, 10 of 100 have p of interquartile means below 0.05 at ten seeds each, and 21 if the other row has thirty; of means it is 5 and 16. The bootstrap interval of interquartile means leaves out 0 in 6 or 7, Welch's in 5 or 6. Of many comparisons in which nothing differs, one in twenty has p below 0.05.\n")
	if r.Comparisons == 1 {
		fmt.Fprint(b, "\nThis report has one p.\n")
		return
	}
	fmt.Fprintf(b, "\nThis report has %d p, of all pairs of rows in all tables of all tasks. A comparison that was fixed before the runs were seen stands for itself; one that is picked from these does below 0.05/%d = %s. Tables that compare the same rows in several ways count several times, so that this is cautious.\n",
		r.Comparisons, r.Comparisons, probability(level(r.Comparisons)))
}

// probability formats a p with two significant digits.
func probability(p float64) string { return fmt.Sprintf("%.2g", p) }
