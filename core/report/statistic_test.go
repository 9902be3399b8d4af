package report

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgrlab/core/rng"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The values are worked by hand; the interquartile means are those of scipy.stats.trim_mean(x,
// 0.25).
func TestStatistics(t *testing.T) {
	five := []float64{5, 1, 2, 100, 3}
	near(t, "mean", Mean(five), 22.2)
	near(t, "deviation", Deviation([]float64{1, 2, 3, 4}), math.Sqrt(5.0/3))
	near(t, "iqm of five", IQM(five), 10.0/3)
	near(t, "iqm of four", IQM([]float64{4, 1, 3, 2}), 2.5)
	near(t, "iqm of three", IQM([]float64{4, 1, 1}), 2)
	near(t, "iqm over strata", IQM([]float64{0, 1, 2, 3}, []float64{10, 11, 12, 13}), (2.0+3+10+11)/4)
	if !math.IsNaN(Deviation([]float64{1})) {
		t.Error("one value has a deviation")
	}

	// In U/(nm), 4 of 6 pairs are better and one is even; on the second task all are worse.
	a, b := [][]float64{{1, 2, 3}, {0}}, [][]float64{{0, 2}, {1, 1}}
	near(t, "improvement", Improvement(a[:1], b[:1]), 4.5/6)
	near(t, "improvement on two tasks", Improvement(a, b), 4.5/12)
	near(t, "it and its opposite", Improvement(a, b)+Improvement(b, a), 1)
}

func TestCurveStatistics(t *testing.T) {
	s := Series{{Step: 1000, Value: 0}, {Step: 2000, Value: 10}, {Step: 4000, Value: 30}}
	area := func(first, last int) float64 {
		mean, ok := s.Area(first, last)
		if !ok {
			t.Errorf("no area from %d to %d", first, last)
		}
		return mean
	}
	near(t, "area", area(1000, 4000), (5*1000+20*2000)/3000.0)
	near(t, "area between points", area(1500, 3000), (7.5*500+15*1000)/1500)
	if mean, ok := s.Area(3000, 3000); ok {
		t.Errorf("an area of no width: %g", mean)
	}
	for _, c := range []struct {
		threshold  float64
		last, step int
		ok         bool
	}{{10, 4000, 2000, true}, {10.5, 4000, 4000, true}, {10.5, 3999, 0, false}, {31, 9000, 0, false}} {
		if step, ok := s.Reaches(c.threshold, c.last); step != c.step || ok != c.ok {
			t.Errorf("reaches %v up to %d at %d %v, want %d %v", c.threshold, c.last, step, ok, c.step, c.ok)
		}
	}
	if v, ok := s.at(3999); v != 10 || !ok {
		t.Errorf("at 3999 it is %v, %v", v, ok)
	}
	if _, ok := s.at(999); ok {
		t.Error("there is a value before the first")
	}
}

// The interval of a mean is that of the normal approximation, strata are drawn separately, and the
// same stream gives the same interval.
func TestBootstrap(t *testing.T) {
	draws := rng.New(1, "test").At(0)
	x := make([]float64, 200)
	for i := range x {
		x[i] = 100 + 10*draws.Norm()
	}
	mean := func(s [][]float64) float64 { return Mean(s[0]) }
	in := Bootstrap(bootstrap, [][]float64{x}, mean)
	half := 1.96 * Deviation(x) / math.Sqrt(200)
	for _, c := range []struct{ got, want float64 }{{in.Low, Mean(x) - half}, {in.High, Mean(x) + half}} {
		if math.Abs(c.got-c.want) > 0.1*half { // with 20,000 resamples a percentile is accurate to some 1.5 % of the half width
			t.Errorf("%v, want about %v", c.got, c.want)
		}
	}
	if again := Bootstrap(bootstrap, [][]float64{x}, mean); again != in {
		t.Errorf("another interval: %v and %v", in, again)
	}
	if other := Bootstrap(bootstrap.Sub("other"), [][]float64{x}, mean); other == in {
		t.Error("another stream gives the same")
	}
	constant := Bootstrap(bootstrap, [][]float64{{1, 1, 1}, {7, 7}}, func(s [][]float64) float64 { return Mean(s[0]) + Mean(s[1]) })
	if constant != (Interval{8, 8}) {
		t.Errorf("strata were mixed: %v", constant)
	}
}

// The interval is worked by hand. The quantile of Student's t at 4.0755 degrees of freedom, from
// the integral of its density by Simpson's rule, is 2.7562849.
func TestWelch(t *testing.T) {
	in := Welch([]float64{1, 2, 3}, []float64{2, 4, 6, 8})
	near(t, "low", in.Low, -6.897975451083177)
	near(t, "high", in.High, 0.8979754510831772)
	if same := Welch([]float64{4, 4}, []float64{1, 1, 1}); same != (Interval{3, 3}) {
		t.Errorf("of values without a spread: %v", same)
	}
	back := Welch([]float64{2, 4, 6, 8}, []float64{1, 2, 3})
	near(t, "back", back.High, -in.Low)
}

// The ends are the roots of Newcombe's equation by scipy.optimize.brentq (SciPy 1.10.1).
func TestImprovementInterval(t *testing.T) {
	for _, c := range []struct {
		p         float64
		n, m      int
		low, high float64
	}{
		{0.5, 5, 5, 0.20561305728947146, 0.7943869427105286},
		{1, 5, 5, 0.6427028239310432, 1},
		{0, 5, 5, 0, 0.35729717606895683},
		{0.92, 5, 30, 0.6602300574721193, 0.9832120728568561},
		{0.66, 30, 30, 0.5127586421000798, 0.7781795101369483},
	} {
		in := improvementInterval(c.p, c.n, c.m)
		if math.Abs(in.Low-c.low) > 1e-9 || math.Abs(in.High-c.high) > 1e-9 {
			t.Errorf("%v of %d over %d: %v, want %v to %v", c.p, c.n, c.m, in, c.low, c.high)
		}
	}
}

// Of 1,000 comparisons of two rows, at least 93 in 100 intervals hold the true probability: normal
// scores a number of deviations apart, of which one of a row is better with Φ(apart/√2).
func TestImprovementIntervalsCover(t *testing.T) {
	for _, sizes := range [][2]int{{5, 5}, {5, 30}, {10, 10}} {
		for _, apart := range []float64{0, 1, 2.5} {
			truth, held := (1+math.Erf(apart/2))/2, 0
			for k := range 1_000 {
				draws := rng.New(uint64(k), "cover").At(0)
				x, y := make([]float64, sizes[0]), make([]float64, sizes[1])
				for i := range x {
					x[i] = draws.Norm() + apart
				}
				for i := range y {
					y[i] = draws.Norm()
				}
				in := improvementInterval(Improvement([][]float64{x}, [][]float64{y}), len(x), len(y))
				if in.Low <= truth && truth <= in.High {
					held++
				}
			}
			if held < 930 {
				t.Errorf("%v runs, true probability %.3f: %d of 1,000 intervals hold it", sizes, truth, held)
			}
		}
	}
}

// What reports say of bootstrap intervals from few seeds is what simulations give: far fewer than 95 of
// 100 hold the true value with 5 seeds, nearly as many with 10. The scores are normal and lognormal; the
// interquartile mean of the latter is 2√e·(Φ(q−1) − Φ(−q−1)), q the upper quartile (SciPy).
func TestBootstrapIntervalsOfFewSeeds(t *testing.T) {
	const rows = 200
	for _, c := range []struct {
		n         int
		low, high float64 // shares, with the noise of the rows simulated here
	}{{5, 0.82, 0.93}, {10, 0.89, 0.98}} {
		held := 0
		for k := range rows {
			draws := rng.New(uint64(k), "few").At(0)
			x, truth := make([]float64, c.n), 0.0
			for i := range x {
				if x[i] = draws.Norm(); k%2 == 0 {
					x[i], truth = math.Exp(x[i]), 1.0729227432534363
				}
			}
			in := Bootstrap(bootstrap.Sub(fmt.Sprint("few ", k)), [][]float64{x}, func(s [][]float64) float64 { return IQM(s...) })
			if in.Low <= truth && truth <= in.High {
				held++
			}
		}
		if share := float64(held) / rows; share < c.low || share > c.high {
			t.Errorf("%d seeds: %.3f of the intervals hold the true value", c.n, share)
		}
	}
}

// A report with few seeds says what its intervals are worth, one with ten does not.
func TestReportsSayThatIntervalsAreNarrow(t *testing.T) {
	for n, want := range map[int]bool{4: false, 5: true, 7: true, 8: false} {
		root, runs := t.TempDir(), []*Run(nil)
		for seed := range n {
			runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{float64(seed)}))
		}
		r, err := New(runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var whole, short bytes.Buffer
		if err := errors.Join(r.Markdown(&whole), r.Summary(&short)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(whole.String(), narrow) != want || strings.Contains(short.String(), narrowInShort) != want {
			t.Errorf("%d seeds: %s%s", n, &whole, &short)
		}
	}
}

// Welch's interval holds what reports say of it: nearly all true differences of equally few seeds also if
// scores are skewed, far fewer where one row has many. NumPy has 0.980 and 0.836 of 20,000 pairs.
func TestWhatWelchHolds(t *testing.T) {
	for m, want := range map[int]float64{3: 0.980, 30: 0.836} {
		const pairs = 3_000
		held := 0
		for k := range pairs {
			draws := rng.New(uint64(k), "welch").At(0)
			x, y := make([]float64, 3), make([]float64, m)
			for _, row := range [][]float64{x, y} {
				for i := range row {
					row[i] = math.Exp(draws.Norm())
				}
			}
			if in := Welch(x, y); in.Low <= 0 && in.High >= 0 {
				held++
			}
		}
		if share := float64(held) / pairs; math.Abs(share-want) > 0.02 {
			t.Errorf("3 and %d seeds: %.3f of the intervals hold the true difference", m, share)
		}
	}
}

// What reports say of intervals of differences of interquartile means with few seeds is what simulations give:
// of 5 seeds against 30 fewer than 95 of 100 hold the true difference, of 10 against 10 about as many.
func TestIntervalsOfDifferencesOfFewSeeds(t *testing.T) {
	const pairs, resamples = 400, 300
	var iqm interquartile
	less := func(s [][]float64) float64 { return iqm.of(s[0]) - iqm.of(s[1]) }
	for _, c := range []struct {
		n, m      int
		low, high float64 // shares, with the noise of the pairs simulated here
	}{{5, 30, 0.88, 0.94}, {10, 10, 0.93, 0.98}} {
		held := 0
		for k := range pairs {
			draws := rng.New(uint64(k), "two").At(0)
			rows := [][]float64{make([]float64, c.n), make([]float64, c.m)}
			for _, row := range rows {
				for i := range row {
					if row[i] = draws.Norm(); k%2 == 0 {
						row[i] = math.Exp(row[i])
					}
				}
			}
			if in := resampled(bootstrap.Sub(fmt.Sprint("two ", k)), rows, less, resamples); in.Low <= 0 && in.High >= 0 {
				held++
			}
		}
		if share := float64(held) / pairs; share < c.low || share > c.high {
			t.Errorf("%d against %d seeds: %.3f of the intervals hold the true difference", c.n, c.m, share)
		}
	}
}

// A table of differences with a row of few seeds says what its intervals are worth, one with eight of both does not.
func TestReportsSayThatIntervalsOfDifferencesAreNarrow(t *testing.T) {
	for n, want := range map[int]bool{5: true, 7: true, 8: false} {
		root, runs := t.TempDir(), []*Run(nil)
		for seed := range n {
			runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{float64(seed)}))
		}
		for seed := range 8 {
			runs = append(runs, journal(t, root, "t", "sac", seed, []float64{float64(seed)}))
		}
		if _, text := texts(t, runs, Options{}); strings.Contains(text, narrowOfTwo) != want {
			t.Errorf("%d seeds: %s", n, text)
		}
	}
}
