package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/report/axes"
	"pgrlab/core/run"
)

// study makes runs of 5,000 steps: of sac five seeds, of pgr six, of which those named fail as the
// lines at their ends say.
func study(t *testing.T, ends map[int][]run.Line) (runs []*Run) {
	t.Helper()
	root := t.TempDir()
	for seed := range 11 {
		method, returns := "sac", []float64{1, 2, 3, 4, float64(seed)}
		if seed >= 5 {
			method = "pgr"
		}
		end := []run.Line{{Type: "done", Step: 5000, Member: run.NoMember, WallS: 50}}
		if lines, fails := ends[seed]; fails {
			if returns, end = returns[:lines[0].Step/1000], lines; lines[0].Type == "evaluated" {
				returns = returns[:len(returns)-1]
			}
		}
		r := journal(t, root, "t", method, seed, returns, end...)
		r.Fingerprint, r.Steps = "abc123", 5000
		runs = append(runs, r)
	}
	return runs
}

// diverges are the last lines of a run whose numbers diverge.
func diverges(step int, err string) []run.Line {
	return []run.Line{
		{Type: "diverged", Step: step, Member: run.NoMember, WallS: 9, Body: map[string]any{"doing": "train agent", "position": "p", "program": "critic", "error": err}},
		{Type: "failed", Step: step, Member: run.NoMember, WallS: 9, Body: map[string]any{"error": "step N: train agent: " + err + ": back to before: train --resume /some/where"}},
	}
}

// texts are a report in all its forms, without the paths of runs.
func texts(t *testing.T, runs []*Run, o Options) (r *Report, all string) {
	t.Helper()
	r, err := New(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	markdown, _, _ := strings.Cut(b.String(), "\n# Runs\n")
	b.Reset()
	if err := r.Summary(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	for _, one := range runs {
		b = *bytes.NewBuffer(bytes.ReplaceAll(b.Bytes(), []byte(one.Dir), []byte("DIR")))
	}
	for _, f := range Figures() {
		if err := r.Figure(&b, f.Name, "svg"); err != nil {
			b.WriteString(err.Error())
		}
	}
	return r, markdown + b.String()
}

// A run that failed later than the step at which runs are compared counts there as the others do, with its
// last evaluation up to there.
func TestARunThatFailedLaterCounts(t *testing.T) {
	r, err := New(study(t, map[int][]run.Line{6: diverges(2841, "norm")}), Options{Step: 2500})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Tasks[0].Rows, func(r *Row) bool { return r.Method == "pgr" })
	if pgr := r.Tasks[0].Rows[i]; pgr.N != 6 || len(pgr.Failed) != 0 || len(pgr.FailedLater) != 1 {
		t.Errorf("%d seeds, failed %+v, later %+v", pgr.N, pgr.Failed, pgr.FailedLater)
	}
	marks, failed := curve(r.Tasks[0].Rows[i], Return, 0), 0
	for _, m := range marks {
		if m.Kind == axes.Line && m.X[len(m.X)-1] != 5000 {
			t.Errorf("the mean ends at step %v", m.X[len(m.X)-1])
		}
		if m.Kind == axes.Cross {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d crosses in %+v", failed, marks)
	}
}

// A seed that diverged alone counts as that, beside the cohort that took it along when another of its
// seeds diverged.
func TestASeedThatCameToItsOwnEnd(t *testing.T) {
	cohort := journal(t, t.TempDir(), "t", "m", 3, nil)
	cohort.Members = []Member{{Seed: 3, Series: map[string]Series{Return: {{1000, 1, 1}}}}, {Seed: 4, Series: map[string]Series{Return: {{1000, 1, 2}}}}}
	cohort.Failed, cohort.Diverged, cohort.blamed = "norm", true, &blame{member: 0}
	alone := journal(t, t.TempDir(), "t", "m", 4, []float64{2}, diverges(1600, "norm")...)
	for _, runs := range [][]*Run{{cohort, alone}, {alone, cohort}} {
		cells, notes := Cells(runs, nil)
		if len(cells) != 1 || len(cells[0].Seeds) != 2 || cells[0].Seeds[1].Run != alone || len(notes) != 1 || !strings.Contains(notes[0], "came to its own end") {
			t.Errorf("%+v, %q", cells, notes)
		}
	}
}

// Over several tasks, a method that has no score on one of them is named.
func TestMethodsWithoutAScoreAreNamed(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	o := Options{Full: map[string]float64{"a": 1000, "b": 1000, "c": 1000}}
	for task := range o.Full {
		for seed := range 5 {
			runs = append(runs, journal(t, root, task, "sac", seed, []float64{1, float64(seed)}))
			more := diverges(1500, "norm")
			if task != "c" {
				more = nil
			}
			runs = append(runs, journal(t, root, task, "pgr", seed, []float64{1, 2}[:2-len(more)/2], more...))
		}
	}
	r, all := texts(t, runs, o)
	if a := r.Aggregate; a == nil || len(a.Without) != 1 || len(a.Tasks) != 2 || !strings.Contains(all, "Left out, since no seed has a score: pgr · ") || !strings.Contains(all, " on c (5 failed)") {
		t.Errorf("%+v\n%s", a, all)
	}
}

// kept writes runs into a results file and reads them.
func kept(t *testing.T, runs []*Run) []*Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.csv")
	if n, err := AddResults(path, runs); err != nil || n == 0 {
		t.Fatalf("%d added, %v", n, err)
	}
	all, err := ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A results file and the folders that it was made from give the same report in all its forms, also if
// seeds diverged before, at and after their first evaluation, or measured what is no number. Runs that
// failed do not move the step at which the others are compared.
func TestAFileAndItsFoldersGiveTheSameReport(t *testing.T) {
	large := "the norm of the gradients is 1.95e+19, too large"
	for name, c := range map[string]struct {
		ends   map[int][]run.Line
		step   int
		failed int
	}{
		"none failed":                     {nil, 5000, 0},
		"two diverged":                    {map[int][]run.Line{6: diverges(2841, large), 8: diverges(1489, large)}, 5000, 2},
		"before the first evaluation":     {map[int][]run.Line{6: diverges(343, large)}, 5000, 1},
		"a whole row":                     {map[int][]run.Line{5: diverges(343, large), 6: diverges(1000, large), 7: diverges(2000, large), 8: diverges(9, large), 9: diverges(8, large), 10: diverges(4999, large)}, 5000, 6},
		"at the last step":                {map[int][]run.Line{6: diverges(5000, large)}, 5000, 0},
		"a return that is none, and more": {map[int][]run.Line{6: {at(4000, math.NaN()), at(5000, math.Inf(1)), {Type: "done", Step: 5000, Member: run.NoMember}}, 7: diverges(1000, "no")}, 5000, 2},
	} {
		runs := study(t, c.ends)
		r, folders := texts(t, runs, Options{})
		_, file := texts(t, kept(t, runs), Options{})
		if folders != file {
			a, b := strings.Split(folders, "\n"), strings.Split(file, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%s: the folders give\n%s\nand the file\n%s", name, a[i], b[i])
					break
				}
			}
		}
		row := r.Tasks[0].Rows[0]
		if row.Label != "pgr" || r.Tasks[0].Step != c.step || len(row.Failed) != c.failed || row.N+len(row.Failed) != 6 {
			t.Errorf("%s: at step %d, %s has %d seeds with a score, failed are %+v", name, r.Tasks[0].Step, row.Label, row.N, row.Failed)
		}
	}
}

// Seeds that failed are named with the reason, and what the numbers do with them is said. The paths in
// the journal's own words are left out.
func TestFailedSeedsAreNamed(t *testing.T) {
	runs := study(t, map[int][]run.Line{6: diverges(2841, "norm 2e+19"), 8: diverges(1489, "norm 1e+19"),
		9: {{Type: "failed", Step: 3000, Member: run.NoMember, Body: map[string]any{"error": "step 3000: the device is lost"}}}})
	r, all := texts(t, runs, Options{})
	for want, times := range map[string]int{
		"pgr: 2 of 6 seeds diverged: train agent: norm …, steps 1,489 and 2,841": 2, // Markdown and terminal
		"pgr: 1 of 6 seeds failed: the device is lost, step 3,000":               2,
		"A seed that failed has no return at that step":                          1,
		"5, 7, 10 (n=3 of 6)":                1,
		"3 of 6":                             1 + 1 + 2, // also in the differences and figures
		`"reason":"train agent: norm 2e+19"`: 1,
		"last point of a seed that failed":   1,
		"/some/where":                        0,
		"Probability that a run of the row":  1,
		"pgr (n=5)":                          1, // it counts those that diverged
		"| 2,841, diverged |":                0, // runs are cut off here
		`"diverged":false,"dir":"DIR"`:       1,
	} {
		if n := strings.Count(all, want); n != times && !(times > 1 && n >= times) {
			t.Errorf("%q stands there %d times, want %d, in\n%s", want, n, times, all[:min(len(all), 12_000)])
		}
	}
	p := r.Tasks[0].Better[0][1] // of pgr: 5, 7, 10 and two worst against 0 to 4
	if p.P != 15.0/25 || p.N != [2]int{5, 5} || p.Permutation == nil {
		t.Errorf("%+v", p)
	}
	if reached := r.Tasks[0].Rows[0].Reaches; len(reached.Points) != 5 {
		t.Errorf("%+v", reached)
	}
	if early, _ := texts(t, runs, Options{Step: 1000}); early.Tasks[0].Rows[0].N != 6 || len(early.Tasks[0].Rows[0].FailedLater) != 3 {
		t.Errorf("at step 1,000: %+v", early.Tasks[0].Rows[0])
	}
}

// A run that failed is a result, be it that its numbers diverged or that its machine ended it, unless it was
// resumed after it.
func TestWhichFailuresAreResults(t *testing.T) {
	root := t.TempDir()
	resumed := run.Line{Type: "resume", Step: 1500, Member: run.NoMember, Body: map[string]any{"by": "ana"}}
	lost := run.Line{Type: "failed", Step: 1800, Member: run.NoMember, Body: map[string]any{"error": "step 1800: no space"}}
	failing := func(why string) []run.Line {
		return []run.Line{{Type: "failed", Step: 1800, Member: run.NoMember, Body: map[string]any{"error": why}}}
	}
	for i, c := range []struct {
		end    []run.Line
		failed string
		result bool
	}{
		{diverges(1500, "norm"), "train agent: norm", true},
		{append(diverges(1500, "norm")[:1], resumed, lost), "no space", true},
		{append(diverges(1500, "norm"), resumed), "", false},
		{[]run.Line{lost}, "no space", true},
		{failing("step 1800: write /home/ana/my runs/x/journal.jsonl: no space left on device"), "write journal.jsonl: no space left on device", true},
		{failing(`rename C:\Users\ana\a.new ~/b/c: "/home/ana/d e" and/or 3/4 of it`), `rename a.new c: "d e" and/or 3/4 of it`, true},
	} {
		r := journal(t, root, "t", "m", i, []float64{1}, c.end...)
		r.Fingerprint, r.Steps = "f", 5000
		if err := r.IsResult(); r.Failed != c.failed || (err == nil) != c.result {
			t.Errorf("%d: %q, %v", i, r.Failed, err)
		}
		if r.Steps = 0; r.Failed != "" && r.IsResult() == nil {
			t.Errorf("%d: of unknown length", i)
		}
		if r.Step = 0; r.Failed != "" && r.IsResult() == nil {
			t.Errorf("%d: of unknown length, at step 0", i)
		}
	}
}

// Of a cohort one member diverges, and the others end with it: only that one counts as the worst.
func TestACohortOfWhichOneDiverges(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "m", 3, nil)
	for i := range 3 {
		r.Members = append(r.Members[:i], Member{Seed: uint64(3 + i), Series: map[string]Series{Return: {{1000, 1, float64(i)}}}})
	}
	r.Fingerprint, r.Steps = "f", 5000
	for _, l := range diverges(1500, "norm") {
		l.Member = 1
		if l.Type == "failed" {
			l.Member = run.NoMember
		}
		text, err := json.Marshal(l.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.add(run.Entry{Type: l.Type, Step: l.Step, Member: l.Member, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	whole := study(t, nil)[:5]
	for i := range whole {
		whole[i].Method = "other"
	}
	for name, runs := range map[string][]*Run{"folder": append(whole, r), "file": kept(t, append(whole, r))} {
		all, err := New(runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		failed := all.Tasks[0].Rows[0].Failed
		var diverged []bool
		for _, f := range failed {
			diverged = append(diverged, f.Diverged)
		}
		if !slices.Equal(diverged, []bool{false, true, false}) || !strings.Contains(failed[0].Reason, "seed 4 diverged") || failed[1].Reason != "train agent: norm" {
			t.Errorf("%s: %+v", name, failed)
		}
		// With a first step given it counts with 0, and those that ended with it have no score.
		if all, err = New(runs, Options{ScoreFrom: 1000}); err != nil {
			t.Fatal(err)
		}
		row := all.Tasks[0].Rows[0]
		if !slices.Equal(row.Seeds, []uint64{4}) || len(row.Filled) != 1 || !row.Filled[0].Diverged || len(row.Failed) != 2 || row.Failed[0].Seed != 3 || row.Failed[1].Seed != 5 {
			t.Errorf("%s: %+v", name, row)
		}
		if text := strings.Join(all.Tasks[0].failures(row), "\n"); !strings.Contains(text, "m: 2 of 3 seeds failed: it ended with its cohort, of which seed 4 diverged, steps 1,500 and 1,500") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A return that is no finite number, wherever it stands, is neither missing nor replaced by an older
// one, and no number of a report overflows.
func TestReturnsThatAreNoNumbers(t *testing.T) {
	for _, odd := range []float64{math.NaN(), math.Inf(1), -1e300} {
		for place := range 4 {
			root := t.TempDir()
			returns := []float64{1, 2, 3, 4}
			returns[place] = odd
			runs := []*Run{journal(t, root, "t", "pgr", 0, returns)}
			for seed := 1; seed < 6; seed++ {
				runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{1, 2, 3, math.MaxFloat32}))
			}
			for _, o := range []Options{{}, {ScoreFrom: 2000}, {Step: 3000}} {
				r, err := New(runs, o)
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := errors.Join(r.Markdown(&b), json.NewEncoder(&b).Encode(r)); err != nil {
					t.Fatal(err)
				}
				all := b.String()
				row, end := r.Tasks[0].Rows[0], r.Tasks[0].Step/1000-1
				want := place == end || o.ScoreFrom > 0 && place >= 1
				failed := slices.Concat(row.Failed, row.Filled)
				if (len(failed) == 1) != want || (len(row.Filled) == 1) != (want && o.ScoreFrom > 0) || row.N+len(row.Failed) != 6 || want && failed[0].Step != 1000*(place+1) {
					t.Errorf("%v at %d, %+v: %+v", odd, 1000*(place+1), o, row)
				}
				if row.Area.Diverged > 1 || strings.Contains(all, "NaN ±") || strings.Contains(all, "Inf ±") {
					t.Errorf("%v at %d, %+v:\n%s", odd, 1000*(place+1), o, all[:2000])
				}
			}
		}
		all := []*Run{journal(t, t.TempDir(), "t", "pgr", 0, []float64{odd, odd})}
		if _, text := texts(t, all, Options{}); !strings.Contains(text, "pgr: 1 of 1 seeds diverged: its return is ") {
			t.Errorf("%v alone:\n%s", odd, text)
		}
	}
}

// Why a run without an evaluation is left out depends on whether it goes on.
func TestWhyThereIsNoEvaluation(t *testing.T) {
	for want, c := range map[string]struct {
		end   []run.Line
		steps int
	}{
		"it failed at step 343, before its first evaluation: train agent: norm": {diverges(343, "norm"), 5000},
		"it has no evaluation yet":                                         {[]run.Line{{Type: "note", Step: 343, Member: run.NoMember, Body: map[string]any{"text": "a"}}}, 5000},
		"it ended at step 400 without an evaluation":                       {[]run.Line{{Type: "done", Step: 400, Member: run.NoMember}}, 400},
		"it was stopped at step 400 of 5,000, before its first evaluation": {[]run.Line{{Type: "done", Step: 400, Member: run.NoMember}}, 5000},
	} {
		root := t.TempDir()
		r := journal(t, root, "t", "m", 0, nil, c.end...)
		r.Steps = c.steps
		if _, err := New([]*Run{r}, Options{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		all, err := New([]*Run{r, journal(t, root, "u", "m", 1, []float64{1})}, Options{})
		if err != nil || len(all.Tasks) != 1 || len(all.Notes) != 1 || !strings.HasSuffix(all.Notes[0], "is left out: "+want) {
			t.Errorf("beside another task: %v, %q, want %q", err, all.Notes, want)
		}
	}
}

// A results file that a spreadsheet saved, with a byte order mark or with its rows in another order,
// says the same.
func TestFilesThatASpreadsheetSaved(t *testing.T) {
	read := func(name string) (runs []*Run) {
		all, err := ReadResults(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b *Run) int {
			return strings.Compare(a.Fingerprint+string(rune(a.Seed)), b.Fingerprint+string(rune(b.Seed)))
		})
		for _, r := range all {
			r.Dir = ""
		}
		return all
	}
	want := read("results.csv")
	if len(want) != 4 || len(want[0].Members[0].Series[Return]) != 3 {
		t.Fatalf("%d runs, the first %+v", len(want), want[0])
	}
	for _, name := range []string{"results-bom.csv", "results-sorted.csv"} {
		if got := read(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another result", name)
		}
	}
}
