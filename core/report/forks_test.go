package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// forked is the note of a fork off the run in a folder.
func forked(step int, position, parent string) run.Line {
	return run.Line{Type: "note", Step: step, Member: run.NoMember, Body: map[string]any{
		"text": forkedAt + position, "obs": map[string]any{"by": "runs/" + parent + "/checkpoints/" + position + ".ckpt"},
	}}
}

// atOnce is a planned change that is made now; that of ratio makes nothing again.
func atOnce(step int, name string, to any) run.Line {
	l := knob(step, name, to, bySchedule)
	body := l.Body.(map[string]any)
	if body["now"] = true; name != "ratio" {
		body["class"] = "generation"
	}
	return l
}

// Forks have rows of their own for each place where they were forked off and what was changed there,
// be it at once or not.
func TestForksAreToldApartByWhatWasChanged(t *testing.T) {
	var runs []*Run
	for seed, lines := range [][]run.Line{
		{forked(2000, "2000", "a")},
		{forked(2000, "2000", "a"), knob(2000, "guidance", 3, bySchedule)},
		{forked(2000, "2000", "a"), atOnce(2000, "guidance", 3)},
		{forked(3000, "3000", "a"), knob(3000, "guidance", 3, bySchedule)},
		{forked(2000, "2000", "a"), knob(2000, "guidance", 3, bySchedule), forked(3000, "3000", "b")},
	} {
		runs = append(runs, journal(t, t.TempDir(), "t", "pgr", seed, []float64{1, 2}, append(lines, at(4000, 3))...))
	}
	cells, notes := Cells(runs, nil)
	var labels []string
	for _, c := range cells {
		labels = append(labels, c.Label())
	}
	want := []string{
		"pgr, forked at 2000", "pgr, forked at 2000 guidance=3", "pgr, forked at 2000 guidance=3!",
		"pgr, forked at 2000 guidance=3, forked at 3000", "pgr, forked at 3000 guidance=3",
	}
	if slices.Sort(labels); !slices.Equal(labels, want) || len(notes) > 0 {
		t.Errorf("%q, %q, want %q", labels, notes, want)
	}
}

// Forks with one seed are two points if their parents differ. The same fork twice is one.
func TestForksOfOneSeed(t *testing.T) {
	fork := func(parent int, own uint64, lines ...run.Line) *Run {
		r := journal(t, t.TempDir(), "t", "pgr", parent, []float64{1, 2}, append(lines, at(4000, 3))...)
		r.Begun(own)
		return r
	}
	for name, c := range map[string]struct {
		runs []*Run
		n    int
	}{
		"of two runs":           {[]*Run{fork(0, 2, forked(2000, "2000", "a")), fork(1, 2, forked(2000, "2000", "b"))}, 2},
		"of one run":            {[]*Run{fork(0, 2, forked(2000, "2000", "a")), fork(0, 2, forked(2000, "2000", "a"))}, 1},
		"of two forks":          {[]*Run{fork(0, 7, forked(2000, "2000", "a"), forked(3000, "3000", "b")), fork(0, 7, forked(2000, "2000", "a"), forked(3000, "3000", "c"))}, 2},
		"no forks, of one seed": {[]*Run{fork(2, 2), fork(2, 2)}, 1},
	} {
		r, err := New(c.runs, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		row := r.Tasks[0].Rows[0]
		if row.N != c.n || len(row.Reaches.Points) != c.n || len(r.Notes) != 2-c.n || c.n == 1 && !strings.Contains(r.Notes[0], "the same seed") {
			t.Errorf("%s: %d seeds, %+v, notes %q", name, row.N, row.Reaches, r.Notes)
		}
	}
}

// A fork and its parent are compared from the fork on, where both were evaluated after it. Else the
// fork is left out, because up to there they are one run.
func TestAForkIsComparedWithItsParentAfterTheFork(t *testing.T) {
	root := t.TempDir()
	fork := journal(t, root, "t", "pgr", 3, []float64{1.23456789, 2}, forked(2000, "2000", "t-pgr-3-0"), atOnce(2000, "guidance", 3), at(3000, 30), at(4000, 40))
	for name, c := range map[string]struct {
		parent []float64
		step   int // 0: the fork is left out
		at     int
	}{
		"nothing after the fork": {[]float64{1.23456789, 2}, 0, 0}, "one evaluation": {[]float64{1.23456789, 2, 5}, 3000, 0}, "as long": {[]float64{1.23456789, 2, 5, 6}, 4000, 0},
		"asked for a step before it": {[]float64{1.23456789, 2, 5, 6}, 0, 2000},
	} {
		parent := journal(t, t.TempDir(), "t", "pgr", 3, c.parent)
		r, err := New([]*Run{parent, fork}, Options{Step: c.at})
		if err != nil {
			t.Fatal(name, err)
		}
		task := r.Tasks[0]
		if c.step == 0 {
			if len(task.Rows) != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "are identical up to 2,000, and nothing after the fork is common") {
				t.Errorf("%s: %d rows, notes %q", name, len(task.Rows), r.Notes)
			}
			continue
		}
		done := *parent
		done.Done, done.Fingerprint, done.Steps, done.Step = true, "f", 1000*len(c.parent), 1000*len(c.parent)
		for where, of := range map[string]*Run{"folder": parent, "file": kept(t, []*Run{&done})[0]} {
			r, err := New([]*Run{of, fork}, Options{Step: c.at})
			if err != nil {
				t.Fatal(name, where, err)
			}
			if task := r.Tasks[0]; len(task.Rows) != 2 || task.Step != c.step || task.From != 2000 || task.Shared != 2000 {
				t.Errorf("%s, %s: %d rows at %d, from %d, shared %d, notes %q", name, where, len(task.Rows), task.Step, task.From, task.Shared, r.Notes)
			}
		}
	}
}

// What forks of one checkpoint show is said once, by their own test: tables that compare rows leave
// them out. A fork that failed counts.
func TestForksOfOneCheckpointAreCompared(t *testing.T) {
	var runs []*Run
	for seed := range 8 {
		to, more := any(3), 60.0
		if seed%2 == 0 {
			to, more = 1.0, 0 // as it was: it is only made again
		}
		lines := []run.Line{forked(2000, "2000", "a"), atOnce(2000, "guidance", to), at(3000, 100+float64(seed)+more), at(4000, 100+more)}
		if seed == 7 {
			lines[3] = run.Line{Type: "failed", Step: 3100, Member: run.NoMember, Body: map[string]any{"error": "it diverged"}}
		} else {
			lines = append(lines, run.Line{Type: "done", Step: 4000, Member: run.NoMember, Body: map[string]any{"steps": 4000}})
		}
		r := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1, 2}, lines...)
		r.Steps = 4000
		r.Begun(uint64(10 + seed))
		runs = append(runs, r)
	}
	all, err := New(runs, Options{Step: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Forks) != 1 {
		t.Fatalf("%d comparisons", len(all.Forks))
	}
	f := all.Forks[0]
	if len(f.Changed) != 4 || len(f.Others) != 4 || *f.Scores[7] != 167./2 || *f.Scores[0] != 100 || !strings.HasPrefix(f.Said, "not seen yet: return +40") || f.Change != "guidance=3!" {
		t.Errorf("%+v", f)
	}
	var b strings.Builder
	if err := all.Markdown(&b); err != nil || !strings.Contains(b.String(), "4 forks of a at 2000 with guidance=3!, 4 without: not seen yet") {
		t.Errorf("%v\n%s", err, b.String())
	}
	for _, row := range all.Tasks[0].Better {
		for _, better := range row {
			if better != nil {
				t.Error("forks are compared twice")
			}
		}
	}
	runs[7].Failed = ""
	if f := forksOf(runs)[0]; f.Scores[7] != nil || !strings.Contains(f.Said, "7 of 8 forks are done") {
		t.Errorf("one is not done: %+v", f)
	}
	begun := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1, 2}, forked(2000, "2000", "a"))
	begun.Begun(30)
	if f := forksOf(append([]*Run{begun}, runs...))[0]; f.Said != "not looked at yet: forks that have not begun: 1" || len(f.Others) != 4 {
		t.Errorf("one has not begun: %+v", f)
	}
	runs[7].Done, runs[7].Step = true, 4000
	runs[7].Members[0].Series[Return] = append(runs[7].Members[0].Series[Return], Point{Step: 4000, Value: 167})
	if f := forksOf(runs)[0]; !strings.HasPrefix(f.Said, "seen better: return +61.4") {
		t.Errorf("all are done: %+v", f)
	}
}

// Forks of the checkpoints of two runs are not pooled as independent seeds, whichever seeds they have, and
// the report says why.
func TestForksOfTwoRunsAreNotPooled(t *testing.T) {
	var runs []*Run
	for parent, changed := range [][]bool{{false, false, true, true}, {true, true, false, false}} { // with seeds 1–4 and 2–5
		for i, c := range changed {
			to := 1.0
			if c {
				to = 3
			}
			r := journal(t, t.TempDir(), "t", "pgr", parent, []float64{1, 2}, forked(2000, "2000", string(rune('a'+parent))), atOnce(2000, "guidance", to), at(3000, float64(i)))
			r.Begun(uint64(parent + 1 + i))
			runs = append(runs, r)
		}
	}
	r, err := New(runs, Options{Step: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tasks[0].Better[0][1] != nil || len(r.Tasks[0].Differences) > 0 {
		t.Error("forks of common checkpoints are pooled")
	}
	var b strings.Builder
	if err := r.Markdown(&b); err != nil || !strings.Contains(b.String(), "(–: too few, or forks of one run, which") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Forks of one run are one seed: they stand singly, without intervals, and are compared with no row but by their own
// test. Those of as many runs are as many seeds.
func TestForksOfOneRunAreNoIndependentSeeds(t *testing.T) {
	for n, statistic := range map[int]Statistic{1: OfInterquartileMeans, 2: OfMeans, 12: OfInterquartileMeans} {
		var runs []*Run
		for _, task := range []string{"t", "u"} {
			for seed := range 12 {
				r := journal(t, t.TempDir(), task, "pgr", seed%n, []float64{1, 2}, forked(2000, "2000", string(rune('a'+seed%n))), atOnce(2000, "guidance", float64(1+2*(seed/6))),
					at(3000, float64(seed)), run.Line{Type: "done", Step: 3000, Member: run.NoMember})
				r.Begun(uint64(seed + 20))
				runs = append(runs, r)
				if seed < 6 {
					runs = append(runs, journal(t, t.TempDir(), task, "sac", seed+50, []float64{1, 2, float64(seed)}))
				}
			}
		}
		r, err := New(runs, Options{Statistic: statistic, Full: map[string]float64{"t": 10, "u": 10}, Threshold: pointer(0)})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := r.Markdown(&text); err != nil {
			t.Fatal(err)
		}
		task := r.Tasks[0]
		for i, row := range task.Rows {
			alone := row.Method == "pgr" && n < 12
			_, _, centred := row.centre()
			if row.N != 6 || alone != (row.ForksOf == n) || alone == centred || alone != (row.Mean == nil) || alone != (row.Area.Mean == nil) || alone != (row.Reaches.Median == nil) {
				t.Errorf("forks of %d: %+v", n, row)
			}
			for j, b := range task.Better[i] {
				if other := task.Rows[j]; i != j && (b != nil) != (n == 12) {
					t.Errorf("forks of %d: %s is compared with %s: %+v", n, row.Label, other.Label, b)
				}
			}
		}
		if wholes := len(r.Aggregate.Rows); (r.Comparisons > 0) != (n == 12) || n < 12 && wholes != 1 || n == 12 && wholes != 3 {
			t.Errorf("forks of %d: %d comparisons, %d rows over both tasks", n, r.Comparisons, wholes)
		}
		if n == 1 && (len(r.Forks) != 2 || !strings.HasPrefix(r.Forks[0].Said, "seen better")) {
			t.Errorf("their own test: %+v", r.Forks)
		}
		said := map[int]string{1: "| 0, 1, 2, 3, 4, 5 (n=6 forks of 1 run) | – |", 2: "| 0, 1, 2, 3, 4, 5 (n=6 forks of 2 runs) | – |", 12: "(n=6) |"}[n]
		if !strings.Contains(text.String(), said) || strings.Contains(text.String(), "count as one seed") != (n < 12) {
			t.Errorf("forks of %d: no %q in\n%s", n, said, &text)
		}
	}
}

// A formula is one change, with as many spaces as it has.
func TestAFormulaIsOneChange(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1, 2}, knob(1500, "relevance", "=0.7 * rank(td) + 0.3 * rank(curiosity)", "ana"))
	cells, _ := Cells([]*Run{r}, nil)
	if got := cells[0].Label(); got != "pgr · TOUCHED ×1" {
		t.Error(got)
	}
}

// Forks are compared with those that made the same again: a new D_syn does something by itself, which is no
// effect of a change. How many changes were looked at is said, with what verdicts are worth then.
func TestForksAreComparedWithThoseThatMadeTheSameAgain(t *testing.T) {
	var runs []*Run
	add := func(seed int, l run.Line, v float64) {
		r := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1, 2}, forked(2000, "2000", "a"), l, at(3000, v), at(4000, v),
			run.Line{Type: "done", Step: 4000, Member: run.NoMember})
		r.Steps = 4000
		r.Begun(uint64(seed))
		runs = append(runs, r)
	}
	for i := range 4 { // whichever was made again returns 100 more
		add(10+i, atOnce(2000, "guidance", 3), 200+float64(i))
		add(20+i, atOnce(2000, "guidance", 1.0), 200+float64(i*i%4))
		add(30+i, atOnce(2000, "ratio", 0.5), 100+float64(i)) // nothing is made again for it
		add(40+i, knob(2000, "ratio", 1.0, bySchedule), 100+float64(i*i%4))
	}
	add(50, atOnce(2000, "relevance", 3), 150)
	all, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Forks) != 3 {
		t.Fatalf("%d comparisons", len(all.Forks))
	}
	for _, f := range all.Forks {
		switch {
		case f.Change == "relevance=3!":
			if f.Said != "not compared: all 8 without a change made something else again than what depends on relevance, or nothing" || len(f.Others) != 0 {
				t.Errorf("%+v", f)
			}
		case len(f.Changed) != 4 || len(f.Others) != 4 || !strings.HasPrefix(f.Said, "not seen yet"):
			t.Errorf("%+v", f)
		}
	}
	const want = "2 changes were looked at: where none of them does anything, up to 10 % of such reports have a verdict. One that is to stand for itself needs at most 2.5 % of the ways to deal out the change to differ as much, which is out of reach of 4 against 4 (2.9 % at the least)."
	var long, short strings.Builder
	if err := errors.Join(all.Markdown(&long), all.Summary(&short)); err != nil || !strings.Contains(long.String(), want) || !strings.Contains(short.String(), want) {
		t.Errorf("%v\n%s%s", err, &long, &short)
	}
	for _, f := range all.Forks {
		f.least = 2. / 252 // of 5 against 5
	}
	if text := all.severalChanges(); !strings.HasSuffix(text, "to differ as much") {
		t.Error(text)
	}
}
