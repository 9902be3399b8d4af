package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/report/axes"
	"pgrlab/core/run"
)

// The table has a line for each method, with its returns and seeds.
func TestSummary(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "cheetah-run", "pgr", seed, []float64{10, 20 + float64(seed)}))
	}
	runs = append(runs, journal(t, root, "cheetah-run", "sac", 0, []float64{5, 15}), journal(t, root, "cheetah-run", "sac", 1, []float64{5, 16.5}))
	for _, r := range runs {
		r.Variant = "agent.hidden=[16, 16]" // a variant that all runs have
	}
	r, err := New(runs, Options{Methods: []string{"sac", "pgr"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Summary(&b); err != nil {
		t.Fatal(err)
	}
	want := `TASK         METHOD  STEP   N  RETURN        95 %
cheetah-run  sac     2,000  2  15, 16.5      –
cheetah-run  pgr     2,000  5  22.00 ± 1.58  20.3 to 23.7
Of fewer than 5 seeds these are the single returns, without an interval.
` + narrowInShort + `
All rows: agent.hidden=[16, 16]
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Where some rows are of pixels, steps are given in frames as well.
func TestSummaryInFrames(t *testing.T) {
	root := t.TempDir()
	runs := []*Run{journal(t, root, "cheetah-run", "drqv2", 0, []float64{10, 20}), journal(t, root, "cheetah-run", "sac", 0, []float64{5, 15})}
	runs[0].Frames = 8
	r, err := New(runs, Options{Methods: []string{"sac", "drqv2"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Summary(&b); err != nil {
		t.Fatal(err)
	}
	want := `TASK         METHOD  STEP   FRAME   N  RETURN  95 %
cheetah-run  sac     2,000  –       1  15      –
cheetah-run  drqv2   2,000  16,000  1  20      –
`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// What the paper reports of runs from pixels is named by its frame, wherever it is drawn, and so
// stands in the right place beside runs with another repeat.
func TestFiguresNameFrames(t *testing.T) {
	r0 := journal(t, t.TempDir(), "t", "drqv2", 0, []float64{10, 20})
	r0.Frames = 8
	for frames, want := range map[int]string{16_000: "frame 16K", 0: "8K"} {
		r, err := New([]*Run{r0}, Options{Reported: []Reported{{Task: "t", Method: "drqv2", Mean: 50, Std: 5, Steps: 8000, Frames: frames, Seeds: 5, Pixels: true}}})
		if err != nil {
			t.Fatal(err)
		}
		marks := append(r.curves(quantity{Return, "return"}, true)[0].Marks, r.final()[0].Marks...)
		labels := ""
		for _, m := range marks {
			labels += m.Label + "\n"
		}
		if !strings.Contains(labels, "the paper at "+want+": mean") {
			t.Errorf("%q, want %q", labels, want)
		}
		if drawn := strings.Contains(labels, "drqv2, paper at "+want+" (n=5)"); drawn != (frames > 0) {
			t.Errorf("%q, want a line of %q: %v", labels, want, frames > 0)
		}
	}
}

// The curve of others is drawn over the frames of the runs, as far as these go, from whatever order its
// points come in; beside the returns of a step stands its point that is nearest to them.
func TestFiguresHaveTheCurvesOfOthers(t *testing.T) {
	of := journal(t, t.TempDir(), "t", "drqv2", 0, []float64{10, 20, 30})
	of.Frames = 8
	point := func(frames int, mean float64) Reported {
		return Reported{Task: "t", Method: "drqv2", Mean: mean, Std: 5, Steps: frames / 2, Frames: frames, Seeds: 10, Pixels: true, Independent: true, Source: "curves", Note: "a remark"}
	}
	r, err := New([]*Run{of}, Options{Reported: []Reported{point(100_000, 4), point(20_000, 2), point(4_000, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	marks := r.curves(quantity{Return, "return"}, true)[0].Marks
	m := marks[len(marks)-1]
	if m.Kind != axes.Curve || !slices.Equal(m.X, []float64{500, 2500}) || !slices.Equal(m.Y, []float64{1, 2}) || m.Label != "drqv2, others at frame 4K to frame 20K (n=10)" {
		t.Errorf("%+v", m)
	}
	marks = r.final()[0].Marks
	m = marks[len(marks)-1]
	if len(marks) != 2 || m.Kind != axes.Other || m.Y[0] != 2-5 || m.Label != "others at frame 20K: mean ± deviation" {
		t.Errorf("%d marks, %+v", len(marks), m)
	}
	var whole, drawn bytes.Buffer
	if err := errors.Join(r.Markdown(&whole), r.Figure(&drawn, "curves", "svg")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(whole.String(), "\ncurves: a remark.\n"); n != 1 {
		t.Errorf("the remark is said %d times in\n%s", n, whole.String())
	}
}

// Long variants have numbers, which are explained once below the table.
func TestLongVariants(t *testing.T) {
	root := t.TempDir()
	const long = "generator.batch=256, generator.head.kind=none, lr_generator=0.001"
	var runs []*Run
	for _, task := range []string{"cheetah-run", "reacher-hard"} {
		for i, method := range []string{"synther", "pgr", "sac"} {
			r := journal(t, root, task, method, 0, []float64{10, 20 + float64(i)})
			if method != "sac" {
				r.Variant = long
			}
			runs = append(runs, r)
		}
		other := journal(t, root, task, "sac", 1, []float64{10, 30})
		other.Variant = "ratio=0.25"
		runs = append(runs, other)
	}
	r, err := New(runs, Options{Methods: []string{"sac", "synther", "pgr"}})
	if err != nil {
		t.Fatal(err)
	}
	var b, whole bytes.Buffer
	if err := errors.Join(r.Summary(&b), r.Markdown(&whole)); err != nil {
		t.Fatal(err)
	}
	want := `TASK          METHOD              STEP   N  RETURN  95 %
cheetah-run   sac                 2,000  1  20      –
cheetah-run   sac, ratio=0.25     2,000  1  30      –
cheetah-run   synther, variant 1  2,000  1  20      –
cheetah-run   pgr, variant 1      2,000  1  21      –
reacher-hard  sac                 2,000  1  22      –
reacher-hard  sac, ratio=0.25     2,000  1  30      –
reacher-hard  synther, variant 1  2,000  1  20      –
reacher-hard  pgr, variant 1      2,000  1  21      –
Of fewer than 5 seeds these are the single returns, without an interval.
variant 1: ` + long + "\n"
	if want = strings.Replace(want, "1  20      –", "1  22      –", 1); b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if n := strings.Count(whole.String(), long); n != len(r.Tasks) {
		t.Errorf("the report says %d times what variant 1 is, for %d tasks:\n%s", n, len(r.Tasks), whole.String())
	}
}

// With single seeds the summary does not say which method is better, and says why.
func TestProbabilityTakesTwoSeeds(t *testing.T) {
	root := t.TempDir()
	for n := 1; n <= 6; n++ {
		var runs []*Run
		for seed := range n {
			runs = append(runs, journal(t, fmt.Sprintf("%s/%d", root, n), "t", "pgr", seed, []float64{20}),
				journal(t, fmt.Sprintf("%s/%d", root, n), "t", "sac", seed, []float64{10}))
		}
		r, err := New(runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Tasks[0].Better[0][1]
		if (p != nil) != (n >= MinPairs) || p != nil && (p.Interval != nil) != (n >= MinSeeds) {
			t.Errorf("%d seeds: %+v", n, p)
		}
		var b bytes.Buffer
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		if n < MinPairs && (!strings.Contains(b.String(), fmt.Sprintf("| 1 pgr (n=%d) | | – |", n)) || !strings.Contains(b.String(), "It takes 2 seeds of both")) {
			t.Errorf("%d seeds:\n%s", n, b.String())
		}
		if !strings.Contains(b.String(), "with a return of 10 or more, about half of the best mean return at that step, that of pgr.") {
			t.Errorf("the threshold has no source:\n%s", b.String())
		}
	}
}

// For one evaluation every method has its own place in the figure, however equal the values are;
// for several evaluations there are curves.
func TestFigureOfOneEvaluation(t *testing.T) {
	root := t.TempDir()
	runs := []*Run{journal(t, root, "t", "pgr", 0, []float64{41.6}), journal(t, root, "t", "sac", 0, []float64{41.6}), journal(t, root, "t", "redq", 0, []float64{41.6})}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	panels := r.curves(quantity{Return, "return"}, true)
	if len(panels) != 1 || len(panels[0].Names) != 3 || len(panels[0].Marks) != 3 || panels[0].Y != "return at step 1,000" {
		t.Fatalf("%+v", panels)
	}
	seen := map[float64]bool{}
	for _, m := range panels[0].Marks {
		if len(m.X) != 1 || seen[m.X[0]] || m.Y[0] != 41.6 {
			t.Errorf("%+v", m)
		}
		seen[m.X[0]] = true
	}
	longer, err := New(append(runs, journal(t, root, "t", "vae", 0, []float64{1, 2})), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := longer.curves(quantity{Return, "return"}, true)[0]; p.Names != nil || p.X != "env steps" {
		t.Errorf("%+v", p)
	}
}

// Rows that differ in scale alone have it in their names, in the terminal's table, in legends and at
// the places of figures. A variant that all rows of one task have, but not those of another, stays.
func TestNamesTellRowsApart(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed, c := range []struct{ task, scale, variant string }{
		{"cheetah-run", "demo", "ratio=0.25"}, {"cheetah-run", "short", "ratio=0.25"}, {"reacher-hard", "demo", ""},
	} {
		r := journal(t, root, c.task, "pgr", seed, []float64{10, 20})
		r.Scale, r.Variant = c.scale, c.variant
		runs = append(runs, r)
	}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Summary(&b); err != nil {
		t.Fatal(err)
	}
	want := `TASK          METHOD                   STEP   N  RETURN  95 %
cheetah-run   pgr, ratio=0.25 · demo   2,000  1  20      –
cheetah-run   pgr, ratio=0.25 · short  2,000  1  20      –
reacher-hard  pgr                      2,000  1  20      –
Of fewer than 5 seeds these are the single returns, without an interval.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	marks := r.curves(quantity{Return, "return"}, false)[0].Marks
	if len(marks) != 2 || marks[0].Label == marks[1].Label {
		t.Errorf("%+v", marks)
	}
	if names := r.final()[0].Names; names[0] != "pgr\nratio=0.25\ndemo\n(n=1)" || names[1] != "pgr\nratio=0.25\nshort\n(n=1)" {
		t.Errorf("%q", names)
	}
}

// A seed that did not get far does not cut the curve of the others, and where the seeds share one step
// or none they are drawn one by one.
func TestCurvesOfSeedsOfDifferentLength(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{1, 2, 3}))
	}
	runs = append(runs, journal(t, root, "t", "pgr", 5, []float64{1}))
	for step, want := range map[int]string{3000: "2 marks, the last of 3 points: pgr (n=5), mean ± deviation", 0: "6 marks, the last of 1 points: "} {
		r, err := New(runs, Options{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		marks := r.curves(quantity{Return, "return"}, false)[0].Marks
		last := marks[len(marks)-1]
		if got := fmt.Sprintf("%d marks, the last of %d points: %s", len(marks), len(last.X), last.Label); got != want {
			t.Errorf("step %d: %s, want %s", step, got, want)
		}
	}
}

// A threshold of 0 is one.
func TestAThresholdOfZero(t *testing.T) {
	r, err := New([]*Run{journal(t, t.TempDir(), "t", "pgr", 0, []float64{-5, 1, 40})}, Options{Threshold: new(0.0)})
	if err != nil {
		t.Fatal(err)
	}
	if task := r.Tasks[0]; task.Threshold != 0 || task.ThresholdOf != "" || *task.Rows[0].Reaches.Points[0] != 2000 {
		t.Errorf("threshold %v of %q", task.Threshold, task.ThresholdOf)
	}
}

// In the figure of F the first seed that is drawn names the row, with the number of those that are.
func TestFigureOfRelevanceNamesItsRows(t *testing.T) {
	root := t.TempDir()
	scores := run.Line{Type: "scores", Step: 2000, Member: run.NoMember, Body: map[string]any{"quantiles": []float64{1, 2, 3}}}
	runs := []*Run{journal(t, root, "t", "pgr", 0, []float64{1, 2})}
	for seed := 1; seed < 3; seed++ {
		runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{1, 2}, scores))
	}
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, m := range r.relevance()[0].Marks {
		labels = append(labels, m.Label)
	}
	if want := []string{"", "pgr (n=2): median, 10 to 90 %", "", ""}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}

// What a summary says of rows without an interval fits the statistic.
func TestASummarySaysOfHowManySeedsThereIsNoInterval(t *testing.T) {
	root := t.TempDir()
	runs := []*Run{journal(t, root, "t", "b", 0, []float64{1})}
	for seed := range 3 {
		runs = append(runs, journal(t, root, "t", "a", seed, []float64{float64(seed)}))
	}
	for s, want := range map[Statistic]string{OfMeans: "Of fewer than 2 seeds", OfInterquartileMeans: "Of fewer than 5 seeds"} {
		if _, text := texts(t, runs, Options{Statistic: s}); strings.Count(text, want) != 1 || strings.Count(text, "Of fewer than") != 1 {
			t.Errorf("%s: %s", s, text)
		}
	}
}
