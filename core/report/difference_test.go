package report

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// With a first step given, a run's score is the mean of its evaluations from that step on; earlier
// evaluations do not count.
func TestARunCountsWithTheMeanOfItsEvaluations(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{1000, 10, 20 + float64(seed), 30}))
	}
	r, err := New(runs, Options{ScoreFrom: 2000, Step: 3000})
	if err != nil {
		t.Fatal(err)
	}
	row := r.Tasks[0].Rows[0]
	for seed, got := range row.Points {
		near(t, "score", got, 15+float64(seed)/2)
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil || !strings.Contains(text.String(), "the mean of its evaluations from step 2,000 to 3,000.") {
		t.Errorf("%v: %s", err, &text)
	}
	if _, err := New(runs, Options{ScoreFrom: 5000}); err == nil || !strings.Contains(err.Error(), "an earlier one than 5,000") {
		t.Errorf("scores from after the last step: %v", err)
	}
}

// A seed without an evaluation between the first and the last step has no score, and the report says
// so; the axes of figures say what the numbers are.
func TestAnEmptyWindowHasNoScore(t *testing.T) {
	root := t.TempDir()
	sparse := journal(t, root, "t", "pgr", 1, []float64{5}, at(4000, 9))
	runs := []*Run{journal(t, root, "t", "pgr", 0, []float64{1, 2, 3, 4}), sparse}
	r, err := New(runs, Options{ScoreFrom: 2000, Step: 3000})
	if err != nil {
		t.Fatal(err)
	}
	row := r.Tasks[0].Rows[0]
	if row.N != 1 || row.Points[0] != 2.5 || row.Missing != 0 || row.Unscored != 1 {
		t.Errorf("%+v", row)
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil || !strings.Contains(text.String(), "pgr: 1 more seed got there, but without an evaluation from step 2,000 to 3,000.") {
		t.Errorf("%v: %s", err, &text)
	}
	if p := r.final()[0]; p.Y != "mean return from step 2,000 to 3,000" {
		t.Errorf("the axis is %q", p.Y)
	}
	if _, err := New([]*Run{sparse}, Options{ScoreFrom: 2000, Step: 3000}); err == nil || !strings.Contains(err.Error(), "no run was evaluated from step 2,000 to 3,000") {
		t.Errorf("no run counts: %v", err)
	}
}

// The difference is positive if the row is better than the column, and has the opposite sign in the
// other direction. With many seeds its interval is that of the normal approximation. The same
// numbers as dormant ratios give the same differences.
func TestDifferences(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	var points [2][]float64
	for seed := range 40 {
		for m, method := range []string{"redq", "pgr"} {
			v := 100*float64(m) + float64(seed*17%40)
			points[m] = append(points[m], v)
			runs = append(runs, journal(t, root, "t", method, seed, []float64{v},
				run.Line{Type: "dormant", Step: 1000, Member: run.NoMember, Body: map[string]any{"ratio": v}}))
		}
	}
	few := journal(t, root, "t", "sac", 0, []float64{1})
	r, err := New(append(runs, few), Options{Methods: []string{"redq", "pgr", "sac"}})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Tasks[0].Differences
	if len(all) != 2 || all[0].Quantity != "return" || all[1].Quantity != "dormant ratio" {
		t.Fatalf("%+v", all)
	}
	for _, d := range all {
		near(t, "difference", d.Of[1][0].Value, 100)
		near(t, "and back", d.Of[0][1].Value, -100)
		if d.Of[0][2] != nil || d.Of[0][0] != nil {
			t.Error("a difference from one seed, or from itself")
		}
		// The values are uniform, so the deviation of an interquartile mean is taken from its own
		// bootstrap.
		iqm := func(s [][]float64) float64 { return IQM(s...) }
		var half float64
		for _, p := range points {
			in := Bootstrap(bootstrap.Sub("here"), [][]float64{p}, iqm)
			half += math.Pow((in.High-in.Low)/2, 2)
		}
		half = math.Sqrt(half)
		in := d.Of[1][0].Interval
		if math.Abs(in.Low-(100-half)) > 0.1*half || math.Abs(in.High-(100+half)) > 0.1*half {
			t.Errorf("%v, want about 100 ± %v", in, half)
		}
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil || !strings.Contains(text.String(), "| 2 pgr (n=40) | +100 [+") || !strings.Contains(text.String(), "| −100 [−1") {
		t.Errorf("%v: %s", err, &text)
	}
}

// The difference of two rows is one number with one interval: read the other way round it has the other
// sign and nothing else.
func TestADifferenceHasOneInterval(t *testing.T) {
	root, runs := t.TempDir(), []*Run(nil)
	for i, v := range []float64{3, 1, 4, 1, 5, 9, 2, 6} {
		runs = append(runs, journal(t, root, "t", "redq", i, []float64{v}), journal(t, root, "t", "pgr", i, []float64{v * v / 3}))
	}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := r.Tasks[0].Differences[0].Of
	there, back := *of[0][1], *of[1][0]
	if there.Value != -back.Value || *there.Interval != (Interval{-back.Interval.High, -back.Interval.Low}) || there.Permutation != back.Permutation || back.Interval.Low >= back.Interval.High {
		t.Errorf("%+v, and back %+v", there, back)
	}
	if none := (&Difference{}).back(); signed(none.Value) != "+0" || none.Interval != nil {
		t.Errorf("no difference is %s", signed(none.Value))
	}
}

// Runs without a dormant ratio are compared by returns alone.
func TestDifferencesOfReturnsAlone(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "t", "redq", seed, []float64{1}), journal(t, root, "t", "pgr", seed, []float64{1}))
	}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Tasks[0].Differences
	if len(all) != 1 || all[0].Of[0][1].Value != 0 || all[0].Of[0][1].Interval != nil {
		t.Errorf("%+v", all)
	}
}

// Numbers without any spread show a difference and no interval, whatever rounding adds to their deviation.
func TestRowsWithoutSpreadHaveNoInterval(t *testing.T) {
	for n, s := range map[int]Statistic{3: OfMeans, 5: OfInterquartileMeans} {
		var runs []*Run
		for _, task := range []string{"t", "u"} {
			for seed := range n {
				for method, v := range map[string]float64{"a": 0.1, "b": 0.3, "c": float64(seed)} {
					runs = append(runs, journal(t, t.TempDir(), task, method, seed, []float64{v}))
				}
			}
		}
		r, text := texts(t, runs, Options{Statistic: s, Full: map[string]float64{"t": 1, "u": 1}})
		task := r.Tasks[0]
		of := task.Differences[0].Of
		near(t, "difference", of[1][0].Value, 0.3-0.1)
		if of[1][0].Interval != nil || of[0][1].Interval != nil || of[2][0].Interval == nil || of[2][0].Interval.Low >= of[2][0].Interval.High {
			t.Errorf("%s: %+v, %+v", s, of[1][0], of[2][0])
		}
		if _, _, ok := task.Rows[0].centre(); ok || r.Aggregate.Rows[0].IQMIn != nil || r.Aggregate.Rows[0].MeanIn != nil {
			t.Errorf("%s: %+v, %+v", s, task.Rows[0], r.Aggregate.Rows[0])
		}
		if _, _, ok := task.Rows[2].centre(); !ok {
			t.Errorf("%s: %+v", s, task.Rows[2])
		}
		if p := probability(of[1][0].Permutation); !strings.Contains(text, "| +0.2 [–], p "+p+" |") || strings.Count(text, " [–]: neither row has any spread.") != 2 || strings.Contains(text, "Of fewer than") {
			t.Errorf("%s:\n%s", s, text[:min(len(text), 5000)])
		}
	}
}

// With two to four seeds the means are compared, also with rows of many seeds; with one seed
// nothing is compared. If interquartile means cover all rows, the means are left out.
func TestDifferencesOfFewSeeds(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for method, seeds := range map[string]int{"redq": 6, "pgr": 3, "sac": 1} {
		for seed := range seeds {
			runs = append(runs, journal(t, root, "t", method, seed, []float64{float64(len(method) * seed)}))
		}
	}
	r, err := New(runs, Options{Methods: []string{"redq", "pgr", "sac"}})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Tasks[0].Differences
	if len(all) != 1 || all[0].Statistic != OfMeans {
		t.Fatalf("%+v", all)
	}
	d := all[0].Of[0][1]
	near(t, "difference", d.Value, 10-3)
	if *d.Interval != Welch([]float64{0, 4, 8, 12, 16, 20}, []float64{0, 3, 6}) || d.N != [2]int{6, 3} || all[0].Of[0][2] != nil || all[0].Of[2][1] != nil {
		t.Errorf("%+v", all[0])
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil || !strings.Contains(text.String(), "Mean of the return, that of the row less that of the column, with Welch's 95 % interval of the difference and p:") {
		t.Errorf("%v: %s", err, &text)
	}
	for seed := 3; seed < 5; seed++ {
		runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{1}))
	}
	if r, err = New(runs, Options{}); err != nil {
		t.Fatal(err)
	}
	if all := r.Tasks[0].Differences; len(all) != 1 || all[0].Statistic != OfInterquartileMeans {
		t.Errorf("%+v", all)
	}
}

// A table of differences gives the number of seeds that have the quantity, which may be fewer than
// have a return. In mazes it says that the dormant ratio of rows with D_syn is another one.
func TestDifferencesCountTheSeedsThatReport(t *testing.T) {
	root := t.TempDir()
	dormant := run.Line{Type: "dormant", Step: 1000, Member: run.NoMember, Body: map[string]any{"ratio": 0.5}}
	explored := run.Line{Type: "evaluated", Step: 1000, Member: run.NoMember, Body: map[string]any{"return_mean": 1, "explored": map[string]any{"goals": 1}}}
	generated := run.Line{Type: "generated", Step: 1000, Member: run.NoMember, Body: map[string]any{"coverage": 0.5}}
	for task, c := range map[string]struct {
		also []run.Line // lines of all runs
		says bool
	}{"cheetah-run": {nil, false}, "maze-sparse": {[]run.Line{explored}, true}} {
		var runs []*Run
		for seed := range 4 {
			lines := slices.Clone(c.also)
			if seed < 3 {
				lines = append(lines, dormant)
			}
			runs = append(runs, journal(t, root, task, "ppo", seed, []float64{1}, lines...),
				journal(t, root, task, "pgr", seed, []float64{1}, append(lines, generated)...))
		}
		r, err := New(runs, Options{Methods: []string{"ppo", "pgr"}})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(b.String(), "Mean of the dormant ratio,")
		if !found || !strings.Contains(table, "| 2 pgr (n=3) |") || !strings.Contains(b.String(), "| 2 pgr (n=4) |") {
			t.Errorf("%s:\n%s", task, b.String())
		}
		if strings.Contains(table, "Rows of the two kinds are not comparable.") != c.says {
			t.Errorf("%s:\n%s", task, table)
		}
	}
}
