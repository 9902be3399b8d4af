package report

import (
	"bufio"
	"fmt"
	"strings"
)

// dormantRatio is the share of the policy's neurons that are dormant (Sokar et al. 2023).
const dormantRatio = "dormant/ratio"

// Differences compares the interquartile means of a quantity between rows.
type Differences struct {
	Quantity string `json:"quantity"`
	// Of[i][j] is that of row i less that of row j; nil where i is j, and where either
	// has fewer than MinSeeds seeds.
	Of [][]*Difference `json:"of"`
}

// Difference is that of two interquartile means, with its bootstrap interval: the seeds of
// either are drawn from on their own. The same seed in two methods shares the first random
// actions and little else, so seeds are not paired.
type Difference struct {
	Value    float64  `json:"value"`
	Interval Interval `json:"interval"`
	N        [2]int   `json:"n"` // seeds of either
}

// compared are the quantities by which rows differ.
var compared = []struct {
	name   string
	points func(r *Row) []float64
}{
	{"return", func(r *Row) []float64 { return r.Points }},
	{"dormant ratio", func(r *Row) []float64 { return r.Dormant.Points }},
}

// score is what a run counts with: the mean of the points from ScoreFrom to Step; where
// that is 0, or there is none between them, the last point at or before Step.
func (t *Task) score(s Series) (v float64, ok bool) {
	if t.ScoreFrom > 0 {
		var in []float64
		for _, p := range s {
			if p.Step >= t.ScoreFrom && p.Step <= t.Step {
				in = append(in, p.Value)
			}
		}
		if len(in) > 0 {
			return Mean(in), true
		}
	}
	return s.at(t.Step)
}

// differences are those of the quantities that two rows at least have seeds enough of.
func differences(t *Task) (all []Differences) {
	for _, q := range compared {
		d, found := Differences{Quantity: q.name}, false
		for i, a := range t.Rows {
			d.Of = append(d.Of, make([]*Difference, len(t.Rows)))
			for j, b := range t.Rows {
				if x, y := q.points(a), q.points(b); i != j && min(len(x), len(y)) >= MinSeeds {
					d.Of[i][j] = difference(x, y, fmt.Sprintf("difference %s %s %s %s", q.name, t.Task, a.Label, b.Label))
					found = true
				}
			}
		}
		if found {
			all = append(all, d)
		}
	}
	return all
}

func difference(a, b []float64, stream string) *Difference {
	less := func(s [][]float64) float64 { return IQM(s[0]) - IQM(s[1]) }
	strata := [][]float64{a, b}
	return &Difference{Value: less(strata), Interval: Bootstrap(bootstrap.Sub(stream), strata, less), N: [2]int{len(a), len(b)}}
}

// differences writes a matrix for each quantity.
func (t *Task) differences(b *bufio.Writer) {
	for _, d := range t.Differences {
		fmt.Fprintf(b, "\nInterquartile mean of the %s, that of the row less that of the column, with the 95 %% bootstrap interval of the difference, seeds unpaired; it takes %d seeds of both:\n", d.Quantity, MinSeeds)
		t.square(b, func(i, j int) string {
			v := d.Of[i][j]
			if v == nil {
				return "–"
			}
			return fmt.Sprintf("%s [%s, %s]", signed(v.Value), signed(v.Interval.Low), signed(v.Interval.High))
		})
	}
}

// square writes a table of rows by rows, with nothing on the diagonal.
func (t *Task) square(b *bufio.Writer, cell func(i, j int) string) {
	fmt.Fprint(b, "\n| |")
	for i := range t.Rows {
		fmt.Fprintf(b, " %d |", i+1)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" --- |", len(t.Rows)))
	for i, r := range t.Rows {
		fmt.Fprintf(b, "| %d %s (n=%d) |", i+1, r.Label, r.N)
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

// signed is a difference with its sign.
func signed(v float64) string {
	if v < 0 {
		return "−" + value(-v)
	}
	return "+" + value(v)
}
