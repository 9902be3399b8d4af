package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// With a first step given, a run that failed counts with its evaluations from there on and with 0 for those that
// it did not reach, or that are no number, or with the least return where one is below 0. The report names it.
func TestARunThatFailedCountsWithWhatItDidNotReach(t *testing.T) {
	lost := []run.Line{{Type: "failed", Step: 4100, Member: run.NoMember, Body: map[string]any{"error": "step 4100: the device is lost"}}}
	ends := map[int][]run.Line{
		5: {at(4000, math.NaN()), at(5000, 8), {Type: "done", Step: 5000, Member: run.NoMember}}, // 3, NaN, 8 count
		6: diverges(4600, "norm"),                                                                // 3, 4
		7: diverges(343, "norm"),                                                                 // nothing
		8: lost,                                                                                  // 3, 4
		9: diverges(2841, "norm"),                                                                // nothing from step 3,000 on
	}
	for least, first := range map[float64]float64{0: 1, -9: -9} {
		runs := study(t, ends)
		runs[0].Members[0].Series[Return][0].Value = first
		for name, of := range map[string][]*Run{"folders": runs, "file": kept(t, runs)} {
			r, text := texts(t, of, Options{ScoreFrom: 3000, Statistic: OfMeans})
			task := r.Tasks[0]
			row := task.Rows[0]
			want := []float64{(3 + least + 8) / 3, (3 + 4 + least) / 3, least, (3 + 4 + least) / 3, least, (3 + 4 + 10.) / 3}
			if task.Least != least || row.Label != "pgr" || row.N != 6 || len(row.Failed) != 0 || len(row.Filled) != 5 || len(row.Points) != 6 {
				t.Fatalf("%s: least %v, %+v", name, task.Least, row)
			}
			for i, v := range row.Points {
				near(t, fmt.Sprint(name, " ", row.Seeds[i]), v, want[i])
			}
			near(t, "difference", task.Differences[0].Of[0][1].Value, Mean(want)-Mean(task.Rows[1].Points))
			for _, said := range []string{
				fmt.Sprintf("pgr: 3 of 6 seeds diverged: train agent: norm, steps 343, 2,841 and 4,600; each evaluation from step 3,000 to 5,000 without a finite return counts with %s", value(least)),
				"pgr: 1 of 6 seeds failed: the device is lost, step 4,100; each",
				"pgr: 1 of 6 seeds diverged: its return is NaN, step 4,000; each",
			} {
				if strings.Count(text, said) != 2 { // in Markdown and for a terminal
					t.Errorf("%s: %q is not said twice in\n%s", name, said, text[:min(len(text), 3000)])
				}
			}
			if strings.Count(text, "The area under the curve leaves out seeds that failed before step 5,000, though their returns count.") != 1 {
				t.Errorf("%s: the area under the curve is not explained in\n%s", name, text[:min(len(text), 3000)])
			}
			if strings.Contains(text, "A seed that failed has no return at that step") || !strings.Contains(text, "last point of a seed that failed") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// Where no seed of a row got to its end, those of other rows say how many evaluations there were to be; where none
// of the task did, those that got furthest.
func TestRowsOfWhichAllFailed(t *testing.T) {
	ends := map[int][]run.Line{}
	for seed := 5; seed < 11; seed++ {
		ends[seed] = diverges(4600, "norm")
	}
	r, _ := texts(t, study(t, ends), Options{ScoreFrom: 3000})
	if row := r.Tasks[0].Rows[0]; row.N != 6 || row.Points[0] != 7./3 {
		t.Errorf("%+v", row)
	}
	ends[5] = diverges(343, "norm")
	r, _ = texts(t, study(t, ends)[5:], Options{ScoreFrom: 3000})
	if row := r.Tasks[0].Rows[0]; r.Tasks[0].Step != 4000 || !slices.Equal(row.Points, []float64{0, 3.5, 3.5, 3.5, 3.5, 3.5}) {
		t.Errorf("at step %d: %+v", r.Tasks[0].Step, row)
	}
}

// A row of which all seeds failed is filled by the distance of its own evaluations, where other rows have others.
func TestRowsOfOtherDistancesAreFilled(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "t", "a", seed, []float64{1, 1, 1, 1, 6, 6}, diverges(6500, "norm")...))
		b := journal(t, root, "t", "b", seed, nil, at(5000, 1), at(10_000, 2), run.Line{Type: "done", Step: 10_000, Member: run.NoMember})
		runs = append(runs, b)
	}
	r, _ := texts(t, runs, Options{Step: 10_000, ScoreFrom: 5000})
	if a := r.Tasks[0].Rows[0]; len(a.Filled) != 5 || !slices.Equal(a.Points, []float64{2, 2, 2, 2, 2}) { // 6, 6 and four times 0
		t.Errorf("%+v", a)
	}
	one := Task{Step: 10_000, ScoreFrom: 5000}
	for want, s := range map[int]Series{0: nil, 6: {{Step: 1000}}, 3: {{Step: 1000}, {Step: 3000}}, 2: {{Step: 5000}}, 1: {{Step: 8000}}} {
		if got := one.expected(s); got != want {
			t.Errorf("%d points expected after %v, want %d", got, s, want)
		}
	}
}

// The threshold is a number where the best row has no evaluation at all, beside one that returns as little.
func TestTheThresholdOfARowWithoutEvaluations(t *testing.T) {
	for least, want := range map[float64]float64{0: 0, -4: -4} {
		root := t.TempDir()
		var runs []*Run
		for seed := range 5 {
			runs = append(runs, journal(t, root, "t", "a", seed, nil, diverges(343, "norm")...),
				journal(t, root, "t", "b", seed, []float64{least, least, least}))
		}
		r, text := texts(t, runs, Options{ScoreFrom: 1000})
		if task := r.Tasks[0]; task.Threshold != want || task.ThresholdOf != "a · demo" && task.ThresholdOf != "a" || strings.Contains(text, "NaN") {
			t.Errorf("%v: %v of %q", least, task.Threshold, task.ThresholdOf)
		}
	}
}

// What a machine cut off is in no steps to a return, with a first step as without, and what was returned after
// the step is no least return.
func TestWhatIsCutOffReachesNothing(t *testing.T) {
	lost := run.Line{Type: "failed", Step: 4100, Member: run.NoMember, Body: map[string]any{"error": "step 4100: the device is lost"}}
	runs := study(t, map[int][]run.Line{6: {lost}, 7: diverges(2841, "norm")})
	runs[0].Members[0].Series[Return] = append(runs[0].Members[0].Series[Return], Point{Step: 6000, Value: -50})
	for _, from := range []int{0, 3000} {
		r, _ := texts(t, runs, Options{Step: 5000, ScoreFrom: from})
		if pgr := r.Tasks[0].Rows[0]; pgr.Method != "pgr" || len(pgr.Reaches.Points) != 5 || r.Tasks[0].Least != 0 {
			t.Errorf("from %d: %+v, least %v", from, pgr.Reaches, r.Tasks[0].Least)
		}
	}
}

// With means as the statistic, rows of five and more seeds are compared by means too, with Welch's interval and
// the permutation p of the difference of means; rows of two seeds have an interval.
func TestRowsAreComparedByMeans(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for i, v := range []float64{1, 2, 4, 8, 16, 32} {
		runs = append(runs, journal(t, root, "t", "a", i, []float64{v}), journal(t, root, "t", "b", i, []float64{10 + v/2}))
		if i < 2 {
			runs = append(runs, journal(t, root, "t", "c", i, []float64{v}))
		}
	}
	o := Options{Statistic: OfMeans, Full: map[string]float64{"t": 100, "u": 100}}
	for _, r := range slices.Clone(runs) {
		other := *r
		other.Task, other.Dir = "u", r.Dir+"-u"
		runs = append(runs, &other)
	}
	r, text := texts(t, runs, o)
	task := r.Tasks[0]
	a, b := task.Rows[0].Points, task.Rows[1].Points
	d := task.Differences[0].Of[1][0]
	if len(task.Differences) != 1 || task.Differences[0].Statistic != OfMeans || task.Differences[0].Comparisons != 3 || d.Value != Mean(b)-Mean(a) || *d.Interval != Welch(b, a) {
		t.Errorf("%+v", task.Differences)
	}
	near(t, "p", d.Permutation, brute(b, a, func(x, y []float64) float64 { return Mean(x) - Mean(y) }))
	// t of 5 degrees of freedom is 2.570581835636314 (scipy.stats.t.ppf), of 1 12.706204736432095.
	in := *task.Rows[0].MeanIn
	near(t, "low", in.Low, 10.5-2.570581835636314*Deviation(a)/math.Sqrt(6))
	near(t, "high", in.High, 10.5+2.570581835636314*Deviation(a)/math.Sqrt(6))
	if high := task.Rows[2].MeanIn.High; math.Abs(high-(1.5+12.706204736432095*0.5)) > 1e-8 {
		t.Errorf("the mean of two is at most %v", high)
	}
	if task.Rows[0].IQM != nil {
		t.Error("there is an interquartile mean")
	}
	// Two tasks of the same numbers: the mean of two equal means has 10 degrees of freedom, t is 2.2281388519649385.
	whole := r.Aggregate.Rows[0]
	near(t, "of two tasks", whole.MeanIn.High, 0.105+2.2281388519649385*Deviation(a)/100/math.Sqrt(12))
	for want, n := range map[string]int{
		"| return | mean | area under the curve |": 2,
		"| 10.5 [-1.95, 22.9] (n=6) |":             2,
		"The mean has Student's 95 % interval, which supposes normal returns, from 2 seeds on, if their returns differ.": 2,
		"Mean of the return, that of the row less that of the column, with Welch's 95 % interval":                        2,
		"| a · demo | 0.105 [":            1,
		"nterquartile mean of the return": 0,
		">mean, 95 % interval<":           1,
	} {
		if strings.Count(text, want) != n {
			t.Errorf("%q is there %d times, not %d, in\n%s", want, strings.Count(text, want), n, text[:min(len(text), 6000)])
		}
	}
}
