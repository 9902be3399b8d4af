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

// No p is less than the least one: groups that do not overlap have it, and no others of their sizes less.
func TestTheLeastP(t *testing.T) {
	draws := bootstrap.Sub("least")
	for i, n := range [][2]int{{2, 2}, {3, 3}, {3, 5}, {5, 5}, {5, 6}, {5, 8}, {4, 9}, {8, 8}} {
		for _, s := range []Statistic{OfMeans, OfInterquartileMeans} {
			least, want := 1.0, leastP(sizes{n: n[0], m: n[1]}, s.cut)
			leastOfRanks := 1.0
			for k := range 50 {
				numbers := draws.At(uint64(100*i + k))
				var rows [2][]float64
				for j := range rows {
					for range n[j] {
						rows[j] = append(rows[j], float64(numbers.Norm())+float64(2*j*(k%5)))
					}
				}
				least = min(least, permuted(draws, rows[0], rows[1], s.ofSorted()))
				x, y := ranks(rows[0], rows[1])
				leastOfRanks = min(leastOfRanks, permuted(draws, x, y, Mean))
			}
			near(t, fmt.Sprint(s, n), least, want)
			near(t, fmt.Sprint("ranks", n), leastOfRanks, leastP(sizes{n[0], n[1], true}, OfMeans.cut))
		}
	}
	// With equal points the other end may differ less.
	x, y := ranks([]float64{1, 1}, []float64{0, 0, 0})
	near(t, "equal ranks", permuted(draws, x, y, Mean), leastP(sizes{n: 2, m: 3}, OfMeans.cut))
	if got := leastP(sizes{n: 12, m: 12}, OfMeans.cut); got != 1./10_001 {
		t.Errorf("of drawn divisions: %v", got)
	}
}

// A report says how many p it has, those of all tables and tasks, once, and where rows are too small for any p
// below the bound that follows.
func TestAReportSaysHowManyComparisonsItMakes(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for _, task := range []string{"t", "u"} {
		for seed := range 5 {
			for m, method := range []string{"a", "b", "c"} {
				runs = append(runs, journal(t, root, task, method, seed, []float64{float64(seed + 2*m)}))
			}
		}
		runs = append(runs, journal(t, root, task, "d", 0, []float64{1}))
	}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	task := r.Tasks[0]
	if d := task.Differences[0]; task.Comparisons != 3 || d.Comparisons != 3 || d.Of[0][1].Permutation != d.Of[1][0].Permutation || d.Of[0][1].Permutation == 0 || r.Comparisons != 12 {
		t.Errorf("%d and %+v, %d in all", task.Comparisons, d, r.Comparisons)
	}
	for want, n := range map[string]int{
		"10 of 100 have p of interquartile means below 0.05 at ten seeds each, and 21 if the other row has thirty; of means it is 5 and 16.":   1,
		"This report has 12 p, of all pairs of rows in all tables of all tasks.":                                                               1,
		"stands for itself; one that is picked from these does below 0.05/12 = 0.0042.":                                                        1,
		"(–: too few). No p of 5 seeds against 5 (0.0079 or more) can be below 0.0042, the bound of those that are picked from this report.\n": 2,
		" No p of 5 seeds against 5 (0.016 or more) can be below 0.0042, the bound of those that are picked from this report.\n":               2,
	} {
		if strings.Count(text.String(), want) != n {
			t.Errorf("%q is said %d times, not %d, in\n%s", want, strings.Count(text.String(), want), n, text.String())
		}
	}
}

// The bound of probabilities of improvement of unequal sizes is twice that of means, unless returns are equal.
func TestTheLeastPOfRanks(t *testing.T) {
	for equal, want := range map[bool]string{false: " No p of 5 seeds against 6 (0.0043 or more)", true: " No p of 5 seeds against 6 (0.0022 or more)"} {
		root := t.TempDir()
		var runs []*Run
		for seed := range 6 {
			v := float64(seed)
			if equal {
				v = 0
			}
			runs = append(runs, journal(t, root, "t", "a", seed, []float64{v}))
			if seed < 5 {
				runs = append(runs, journal(t, root, "t", "b", seed, []float64{10 + float64(seed)}))
			}
		}
		r, err := New(runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		task := r.Tasks[0]
		if of := unreachable(task.compared(), OfMeans.cut, 0.01); of != "" {
			t.Errorf("%v: %q", equal, of)
		}
		if of := unreachable(task.compared(), OfMeans.cut, *task.Better[0][1].Permutation); !strings.HasPrefix(of, want) {
			t.Errorf("%v: %q, want %q", equal, of, want)
		}
	}
}
