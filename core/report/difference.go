package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
)

// dormantRatio is the share of the policy's neurons that are dormant (Sokar et al. 2023).
const dormantRatio = "dormant/ratio"

// Differences compares a quantity between rows by a statistic over their seeds.
type Differences struct {
	Quantity  string    `json:"quantity"`
	Statistic Statistic `json:"statistic"`
	N         []int     `json:"n"` // by row: seeds that have the quantity
	// Of[i][j] is the statistic of row i minus that of row j; nil if i is j, if either row has
	// fewer seeds than the statistic takes, and for forks of one run, see dependent.
	Of          [][]*Difference `json:"of"`
	Comparisons int             `json:"comparisons"` // pairs of rows that are compared
}

// Statistic summarises the seeds of a row.
type Statistic string

const (
	// OfInterquartileMeans takes MinSeeds seeds of both rows. Its interval is a bootstrap
	// interval, drawn from the seeds of each row separately.
	OfInterquartileMeans Statistic = "interquartile mean"
	// OfMeans takes MinPairs seeds of both rows. Its interval is Welch's (1947), which assumes
	// normal points: with so few seeds a bootstrap interval is too narrow.
	OfMeans Statistic = "mean"
)

// takes returns how many seeds of either row a statistic needs.
func (s Statistic) takes() int {
	if s == OfMeans {
		return MinPairs
	}
	return MinSeeds
}

// cut is how many of n values the statistic leaves out at each end.
func (s Statistic) cut(n int) int {
	if s == OfMeans {
		return 0
	}
	return quarter(n)
}

// ofSorted returns the statistic as a function of sorted values.
func (s Statistic) ofSorted() func(sorted []float64) float64 {
	if s == OfMeans {
		return Mean
	}
	return sortedIQM
}

// Difference is the difference of two rows with its 95 % interval. The same seed in two methods
// shares the first random actions and little else, so seeds are not paired.
type Difference struct {
	Value    float64   `json:"value"`
	Interval *Interval `json:"interval,omitempty"` // nil: neither row has any spread
	// Permutation is the p of a permutation test of the same difference.
	Permutation float64 `json:"permutation_p"`
	N           [2]int  `json:"n"` // seeds of each row
}

// dormantQuantity is what reports call dormantRatio.
const dormantQuantity = "dormant ratio"

// compared are the quantities by which rows are compared.
var compared = []struct {
	name   string
	points func(r *Row) []float64
}{
	{"return", func(r *Row) []float64 { return r.Points }},
	{dormantQuantity, func(r *Row) []float64 { return r.Dormant.Points }},
}

// differences returns the differences of each quantity for which at least two rows have
// enough seeds: by the task's statistic, and by means too if these compare more pairs of rows.
func differences(t *Task) (all []Differences) {
	for _, q := range compared {
		pairs := 0
		for _, s := range slices.Compact([]Statistic{t.Statistic, OfMeans}) {
			d := Differences{Quantity: q.name, Statistic: s}
			for i, a := range t.Rows {
				d.N = append(d.N, len(q.points(a)))
				d.Of = append(d.Of, make([]*Difference, len(t.Rows)))
				for j, b := range t.Rows[:i] {
					x, y := q.points(a), q.points(b)
					if min(len(x), len(y)) < s.takes() || dependent(a, b) {
						continue
					}
					stream := fmt.Sprintf("difference %s %s %s %s", q.name, t.Task, a.Label, b.Label)
					d.Of[i][j] = s.difference(x, y, stream)
					d.Of[j][i] = d.Of[i][j].back()
					d.Comparisons++
				}
			}
			if d.Comparisons > pairs {
				all, pairs = append(all, d), d.Comparisons
			}
		}
	}
	return all
}

// back is the difference of the second row and the first. It is the same number and interval with the
// other sign (0 − x: −x of 0 is written "-0"): another bootstrap would have another interval, and might
// leave out 0 where this one does not.
func (d *Difference) back() *Difference {
	back := &Difference{Value: 0 - d.Value, Permutation: d.Permutation, N: [2]int{d.N[1], d.N[0]}}
	if d.Interval != nil {
		back.Interval = &Interval{0 - d.Interval.High, 0 - d.Interval.Low}
	}
	return back
}

func (s Statistic) difference(a, b []float64, stream string) *Difference {
	d := &Difference{N: [2]int{len(a), len(b)}, Permutation: permuted(bootstrap.Sub(stream+" p"), a, b, s.ofSorted())}
	var iqm interquartile
	less := func(s [][]float64) float64 { return iqm.of(s[0]) - iqm.of(s[1]) }
	strata := [][]float64{a, b}
	var in Interval
	if s == OfMeans {
		d.Value, in = Mean(a)-Mean(b), Welch(a, b)
	} else {
		d.Value, in = less(strata), Bootstrap(bootstrap.Sub(stream), strata, less)
	}
	if !flat(a, b) {
		d.Interval = &in
	}
	return d
}

// differences writes a matrix for each quantity.
func (t *Task) differences(b *bufio.Writer) {
	for _, d := range t.Differences {
		fmt.Fprintf(b, "\n%s of the %s, that of the row less that of the column, with %s of the difference and p:\n", d.Statistic.heading(), d.Quantity, d.Statistic.interval())
		even := ""
		t.square(b, func(i int) string { return t.Rows[i].outOf(d.N[i]) }, func(i, j int) string {
			v := d.Of[i][j]
			if v == nil {
				return "–"
			}
			in := "–"
			if v.Interval == nil {
				even = " [–]: neither row has any spread."
			} else {
				in = fmt.Sprintf("%s, %s", signed(v.Interval.Low), signed(v.Interval.High))
			}
			return fmt.Sprintf("%s [%s], p %s", signed(v.Value), in, probability(v.Permutation))
		})
		fmt.Fprintf(b, "\nSeeds are unpaired; a difference takes %d of both rows (%s).%s%s%s\n", d.Statistic.takes(), t.lacking(), even, d.worth(), unreachable(d.compared(), d.Statistic.cut, t.level))
		if d.Quantity == dormantQuantity && t.mixedLatents() {
			fmt.Fprint(b, "\nIn mazes seen as rays the dormant ratio of a method with a generator is of the last layer of its trunk alone, on latents as the last refit stored them; that of others is of all layers of theirs, on present observations. Rows of the two kinds are not comparable.\n")
		}
	}
}

// heading returns the statistic with a capital letter, to begin a sentence.
func (s Statistic) heading() string { return strings.ToUpper(string(s[:1])) + string(s[1:]) }

// interval names the interval of a difference.
func (s Statistic) interval() string {
	if s == OfMeans {
		return "Welch's 95 % interval"
	}
	return "the 95 % bootstrap interval"
}

// ofRow names the interval of a row's statistic.
func (s Statistic) ofRow() string {
	if s == OfMeans {
		return "Student's 95 % interval, which supposes normal returns"
	}
	return "its 95 % bootstrap interval"
}

// worth says what the intervals are worth where their supposition does not hold. That of means is from 20,000
// simulated pairs of rows of normal, lognormal, t(3) and two-humped scores, of one deviation or several.
func (d Differences) worth() string {
	switch {
	case d.Statistic == OfMeans:
		return " Welch's interval supposes normal returns. Of returns of other shapes it holds the true difference in 94 to 98 of 100 cases with 3 seeds of both, but in 71 to 95 with 3 of one and 30 of the other."
	case slices.ContainsFunc(d.compared(), func(s sizes) bool { return min(s.n, s.m) < enoughSeeds }):
		return narrowOfTwo
	}
	return ""
}

// mixedLatents says whether the task is a maze and has both rows with D_syn, whose learner fills
// D_real with latents, and rows without, none of which sees frames.
func (t *Task) mixedLatents() bool {
	var kinds [2]bool
	for _, r := range t.Rows {
		switch {
		case r.Explored == nil || r.Frames > 0 || len(r.Dormant.Points) == 0:
		case r.Generated != nil:
			kinds[0] = true
		default:
			kinds[1] = true
		}
	}
	return kinds[0] && kinds[1]
}

// square writes a table of rows by rows with an empty diagonal. n is the number of seeds of a row.
func (t *Task) square(b *bufio.Writer, n func(i int) string, cell func(i, j int) string) {
	fmt.Fprint(b, "\n| |")
	for i := range t.Rows {
		fmt.Fprintf(b, " %d |", i+1)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" --- |", len(t.Rows)))
	for i, r := range t.Rows {
		fmt.Fprintf(b, "| %d %s (n=%s) |", i+1, r.name, n(i))
		for j := range t.Rows {
			if i == j {
				fmt.Fprint(b, " |")
				continue
			}
			fmt.Fprintf(b, " %s |", cell(i, j))
		}
		fmt.Fprintln(b)
	}
}

// signed formats a difference with its sign.
func signed(v float64) string {
	if v < 0 {
		return "−" + value(-v)
	}
	return "+" + value(v)
}
