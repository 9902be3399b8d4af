package report

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
)

// brute is the p of a permutation test by its definition, over all sets of len(a) points.
func brute(a, b []float64, statistic func(a, b []float64) float64) float64 {
	all := append(append([]float64{}, a...), b...)
	seen, hits, n := math.Abs(statistic(a, b)), 0, 0
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) != len(a) {
			continue
		}
		var x, y []float64
		for i, v := range all {
			if set>>i&1 == 1 {
				x = append(x, v)
			} else {
				y = append(y, v)
			}
		}
		if n++; math.Abs(statistic(x, y)) >= seen-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// The p of differences of means and of interquartile means, and of probabilities of improvement, are
// those of all divisions, with and without ties, for rows of different sizes, with seeds that diverged.
func TestPermutationsAreAllDivisions(t *testing.T) {
	draws := bootstrap.Sub("test")
	for i, n := range [][2]int{{2, 2}, {2, 5}, {5, 3}, {5, 5}, {6, 7}} {
		for _, step := range []float64{1, 0.25, 1e-6} { // with the first, most points are equal
			numbers := draws.At(uint64(100 * i))
			var rows [2][]float64
			for k := range rows {
				for range n[k] {
					rows[k] = append(rows[k], math.Round((float64(numbers.IntN(1000))/400+float64(k))/step)*step)
				}
			}
			a, b := rows[0], rows[1]
			near(t, fmt.Sprint("means ", n), permuted(draws, a, b, Mean), brute(a, b, func(a, b []float64) float64 { return Mean(a) - Mean(b) }))
			near(t, fmt.Sprint("interquartile means ", n), permuted(draws, a, b, sortedIQM), brute(a, b, func(a, b []float64) float64 { return IQM(a) - IQM(b) }))
			a, b = append([]float64{math.Inf(-1)}, a...), append([]float64{math.Inf(-1), math.Inf(-1)}, b...)
			x, y := ranks(a, b)
			near(t, fmt.Sprint("ranks ", n), permuted(draws, x, y, Mean), brute(a, b, func(a, b []float64) float64 { return Improvement([][]float64{a}, [][]float64{b}) - 0.5 }))
		}
	}
}

// Ten seeds against ten are all divided; of more some divisions are drawn, which give about the p of the
// normal approximation.
func TestPermutationsOfManySeeds(t *testing.T) {
	if got := divisions(10, 10); got != 184_756 {
		t.Errorf("%v ways to divide ten and ten", got)
	}
	var a, b []float64
	for i := range 40 {
		a, b = append(a, float64(i)), append(b, float64(i)+6)
	}
	z := 6 / math.Sqrt(2*Deviation(a)*Deviation(a)/40)
	want := math.Erfc(z / math.Sqrt2)
	if got := permuted(bootstrap, a, b, Mean); math.Abs(got-want) > 0.015 || got != permuted(bootstrap, a, b, Mean) {
		t.Errorf("p is %v, want about %v, the same each time", got, want)
	}
	if got := permuted(bootstrap, a, a, Mean); got != 1 {
		t.Errorf("p of equal rows is %v", got)
	}
}

// A table says how many comparisons it makes, each pair of rows once.
func TestTablesSayHowManyComparisonsTheyMake(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		for m, method := range []string{"a", "b", "c"} {
			runs = append(runs, journal(t, root, "t", method, seed, []float64{float64(seed + 2*m)}))
		}
	}
	r, err := New(append(runs, journal(t, root, "t", "d", 0, []float64{1})), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	task := r.Tasks[0]
	if d := task.Differences[0]; task.Comparisons != 3 || d.Comparisons != 3 || d.Of[0][1].Permutation != d.Of[1][0].Permutation || d.Of[0][1].Permutation == 0 {
		t.Errorf("%d and %+v", task.Comparisons, d)
	}
	if n := strings.Count(text.String(), "3 comparisons have a p: one that is to stand for itself needs p below 0.05/3 = 0.017."); n != 2 {
		t.Errorf("said %d times in\n%s", n, text.String())
	}
}
