package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgrlab/core/run"
)

// result is a run of five evaluations that has ended.
func result(t *testing.T, root, method string, seed int, more ...run.Line) *Run {
	t.Helper()
	var returns []float64
	for i := range 5 {
		returns = append(returns, 100*math.Sin(float64(seed))+float64(i)/3)
	}
	lines := append([]run.Line{
		{Type: "dormant", Step: 2000, Member: run.NoMember, WallS: 21, Body: map[string]any{"ratio": 0.125}},
		{Type: "scores", Step: 2500, Member: run.NoMember, WallS: 25, Body: map[string]any{"mean": run.Float(math.NaN()), "quantiles": []float64{1, 2, 3}}},
	}, more...)
	r := journal(t, root, "cheetah-run", method, seed, returns, append(lines, run.Line{Type: "done", Step: 5000, Member: run.NoMember, WallS: 51})...)
	r.Fingerprint = "abc123"
	return r
}

// same compares a number from a results file with the run's.
func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 5e-6*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A report from a results file shows the same as one from the runs, to the digits that the file
// keeps.
func TestResultsAreReportedAsTheirRuns(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	var runs []*Run
	for seed := range 6 {
		runs = append(runs, result(t, root, "synther", seed), result(t, root, "pgr-curiosity", seed+10))
	}
	runs[1].Variant = `ratio=0.25, "odd"`
	for i := 0; i < len(runs); i += 2 {
		runs[i].Frames = 2
	}
	if n, err := AddResults(path, runs); n != len(runs) || err != nil {
		t.Fatalf("%d added, %v", n, err)
	}
	kept, err := ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(kept, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Tasks) != 1 || len(b.Tasks) != 1 || len(a.Tasks[0].Rows) != 3 || len(b.Tasks[0].Rows) != 3 {
		t.Fatalf("%d and %d rows", len(a.Tasks[0].Rows), len(b.Tasks[0].Rows))
	}
	for i, row := range a.Tasks[0].Rows {
		other := b.Tasks[0].Rows[i]
		if row.Label != other.Label || row.N != other.N || row.N == 0 {
			t.Errorf("%s of %d runs, from the file %s of %d", row.Label, row.N, other.Label, other.N)
		}
		for k := range row.Points {
			same(t, row.Label, other.Points[k], row.Points[k])
			same(t, row.Label+" area", other.Area.Points[k], row.Area.Points[k])
		}
		if row.IQM != nil {
			same(t, row.Label+" IQM", *other.IQM, *row.IQM)
			same(t, row.Label+" interval", other.IQMIn.Low, row.IQMIn.Low)
		}
	}
	for _, r := range kept {
		if want := map[string]int{"synther": 2}[r.Method]; r.Frames != want {
			t.Errorf("an env step of %s is %d frames, want %d", r.Dir, r.Frames, want)
		}
	}
	one := kept[0]
	if !one.Done || one.Step != 5000 || one.Device != "cpu test" || one.Version != "v1" || one.WallS != 50 || one.Task != "cheetah-run" {
		t.Errorf("%+v", one)
	}
	if s := one.Members[0].Series; len(s["dormant/ratio"]) != 1 || s["dormant/ratio"][0] != (Point{2000, 21, 0.125}) || len(s["scores/mean"]) != 0 || s["scores/q50"][0].Value != 2 {
		t.Errorf("%v", s)
	}
}

// A seed of the same settings is stored once, whichever process adds it and however many add at a time. The
// file does not depend on the order, and the bytes of existing results stay the same.
func TestResultsAreAddedOnce(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	var runs []*Run
	for seed := range 8 {
		runs = append(runs, result(t, root, "synther", seed))
	}
	forward, backward, together := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), filepath.Join(dir, "c.csv")
	for i := range runs {
		for _, again := range []int{1, 0} {
			if n, err := AddResults(forward, runs[i:i+1]); n != again || err != nil {
				t.Errorf("%d added, %v", n, err)
			}
		}
		if _, err := AddResults(backward, runs[len(runs)-1-i:len(runs)-i]); err != nil {
			t.Error(err)
		}
	}
	var adding sync.WaitGroup
	for i := range runs {
		adding.Go(func() {
			if n, err := AddResults(together, runs[i:i+1]); n != 1 || err != nil {
				t.Errorf("%d added, %v", n, err)
			}
		})
	}
	adding.Wait()
	want, err := os.ReadFile(forward)
	if err != nil || bytes.Count(want, []byte("\n")) != 1+8*6 {
		t.Fatalf("%v:\n%s", err, want)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(together), ".*")); err != nil || len(left) > 0 {
		t.Errorf("locks are left: %q, %v", left, err)
	}
	for _, path := range []string{backward, together} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v: another file", path, err)
		}
	}
	other := *runs[0]
	other.Fingerprint = "other"
	if n, err := AddResults(forward, []*Run{&other}); n != 1 || err != nil {
		t.Errorf("other settings: %d added, %v", n, err)
	}
	all, err := ReadResults(forward)
	if err != nil {
		t.Fatal(err)
	}
	cells, _ := Cells(all, nil)
	if len(cells) != 2 || cells[0].Label() != "synther, settings abc123" || cells[1].Label() != "synther, settings other" {
		t.Errorf("%d cells, the first %s: runs of other settings were taken together", len(cells), cells[0].Label())
	}
}

// On a disk without locks no result is lost of a process that adds several at a time, as a sweep does.
func TestResultsAreAddedWithoutLocks(t *testing.T) {
	real := flock
	defer func() { flock = real }()
	flock = func(int, int) error { return syscall.ENOLCK }
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	var runs []*Run
	for seed := range 8 {
		runs = append(runs, result(t, root, "synther", seed))
	}
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			if n, err := AddResults(path, runs[i:i+1]); n != 1 || err != nil {
				t.Errorf("%d added, %v", n, err)
			}
		})
	}
	all.Wait()
	if kept, err := ReadResults(path); err != nil || len(kept) != len(runs) {
		t.Errorf("%d of %d are there, %v", len(kept), len(runs), err)
	}
}

// Results of one seed that differ in length or scale are different results: a report of the file
// takes the longest, and says so, as a report of the folders does.
func TestResultsOfOneSeedThatDiffer(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	var runs []*Run
	for seed := range 2 {
		short := journal(t, root, "cheetah-run", "synther", seed, []float64{1, 2}, run.Line{Type: "done", Step: 2000, Member: run.NoMember})
		short.Fingerprint = "abc123"
		long := result(t, root, "synther", seed)
		other := *long
		other.Scale = "short"
		runs = append(runs, short, long, &other)
	}
	if n, err := AddResults(path, runs); n != len(runs) || err != nil {
		t.Fatalf("%d added, %v", n, err)
	}
	kept, err := ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(kept, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if task := r.Tasks[0]; task.Step != 5000 || len(task.Rows) != 2 || len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "2,000 steps is left out") {
		t.Errorf("at step %d, %d rows, notes %q", task.Step, len(task.Rows), r.Notes)
	}
}

// Of a seed that stands in a file twice by one build the rows that come first count, and a note says so: they
// are not averaged. Nothing is added to such a file, because the rows that do not count would be lost.
func TestASeedThatStandsInAFileTwice(t *testing.T) {
	root := t.TempDir()
	first := result(t, root, "synther", 1)
	second := *result(t, t.TempDir(), "synther", 2) // another run that says it is that seed
	second.Seed = 1
	block := func(r *Run) (head string, rows []string) {
		lines := strings.Split(strings.TrimSpace(string(formatResults(nil, []*Run{r}))), "\n")
		return lines[0], lines[1:]
	}
	head, a := block(first)
	_, b := block(&second)
	var mixed []string
	for i := range a {
		mixed = append(mixed, a[i], b[i])
	}
	path := filepath.Join(t.TempDir(), "r.csv")
	for name, rows := range map[string][]string{"one after the other": append(slices.Clone(a), b...), "in order of steps": mixed} {
		if err := os.WriteFile(path, []byte(strings.Join(append([]string{head}, rows...), "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		kept, err := ReadResults(path)
		if err != nil || len(kept) != 1 || kept[0].Device != "cpu test" {
			t.Fatalf("%s: %d runs, %v", name, len(kept), err)
		}
		got := kept[0].Members[0].Series[Return]
		if len(got) != 5 || len(kept[0].Members[0].Series[dormantRatio]) != 1 {
			t.Errorf("%s: %v", name, kept[0].Members[0].Series)
		}
		for i, p := range got {
			same(t, name, p.Value, first.Members[0].Series[Return][i].Value)
		}
		r, err := New(kept, Options{})
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "it stands there twice") {
			t.Errorf("%s: %q, %v", name, r.Notes, err)
		}
		before, _ := os.ReadFile(path)
		n, err := AddResults(path, []*Run{result(t, t.TempDir(), "synther", 3)})
		if after, _ := os.ReadFile(path); n != 0 || err == nil || !strings.Contains(err.Error(), "before it is mended: "+path) || string(after) != string(before) {
			t.Errorf("%s: %d added, %v", name, n, err)
		}
	}
}

// Whatever tables show of runs, and most figures, can be had from the file. Columns that are not
// known here stay as they are, and a file gets a column only with a run that fills it.
func TestResultsKeepWhatReportsShow(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	header := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n")
		return head
	}
	for i := range 2 {
		if _, err := AddResults(path, []*Run{result(t, root, "sac", i)}); err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(append(append(append([]string{}, resultColumns...), resultQuantities...), "scores/q10", framesColumn), ","); header() != want {
			t.Errorf("%s, want %s", header(), want)
		}
	}
	full := result(t, root, "pgr", 2)
	for _, kinds := range []measures{generatedMeasures, exploredMeasures, {all: []measure{{"", "generated/dynamics/combined"}, {"", "generated/furthest"}}}} {
		for _, m := range kinds.all {
			full.Members[0].Series[m.series] = Series{{2000, 21, 0.5}, {4000, 40, 0.25}}
		}
	}
	if _, err := AddResults(path, []*Run{full}); err != nil {
		t.Fatal(err)
	}
	kept, err := ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range full.Members[0].Series {
		if got := kept[0].Members[0].Series[name]; slices.Contains(furtherQuantities, name) && !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	r, err := New(kept, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"curves", "dormant", "dynamics", "relevance", "final"} {
		if err := r.Figure(io.Discard, name, "svg"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept[0].Members[0].Series["generated/new"] = Series{{2000, 21, 0.75}}
	if err := os.WriteFile(path, formatResults(kept, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := AddResults(path, []*Run{result(t, root, "sac", 3)}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(header(), ",generated/new,"+framesColumn) {
		t.Errorf("%s: a column was lost", header())
	}
	if kept, err = ReadResults(path); err != nil || !slices.Equal(kept[0].Members[0].Series["generated/new"], Series{{2000, 21, 0.75}}) {
		t.Errorf("%v, %v", kept[0].Members[0].Series, err)
	}
}

// What a killed process left of a results file goes when the file is added to, and nothing else does.
func TestAddingResultsRemovesWhatIsUnfinished(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"study.csv.new-0badcafe", "study.csv.new-version", "study.csv.new-12345678.txt", "other.csv.new-0badcafe"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := AddResults(filepath.Join(dir, "study.csv"), []*Run{result(t, t.TempDir(), "sac", 1)}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"other.csv.new-0badcafe", "study.csv", "study.csv.new-12345678.txt", "study.csv.new-version"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
}

// What shows why a run from pixels learns or does not is kept of such runs alone: a file of others
// keeps its columns, though they have critics too.
func TestResultsOfRunsFromPixels(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	lines := []run.Line{
		{Type: "latents", Step: 2000, Member: run.NoMember, WallS: 21, Body: map[string]any{"drift": 0.5, "size": 0.25}},
		{Type: "losses", Step: 2000, Member: run.NoMember, WallS: 21, Body: map[string]any{"critic": 2, "q_mean": 8}},
		{Type: "generated", Step: 2000, Member: run.NoMember, WallS: 21, Body: map[string]any{"nearest": 0.125, "obeyed": 0.75}},
	}
	for seed, frames := range []int{0, 2} {
		r := result(t, root, "drqv2", seed, lines...)
		r.Frames = frames
		if _, err := AddResults(path, []*Run{r}); err != nil {
			t.Fatal(err)
		}
		kept, err := ReadResults(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pixelQuantities {
			if s := kept[seed].Members[0].Series[name]; (len(s) > 0) != (frames > 0) || frames > 0 && s[0] != r.Members[0].Series[name][0] {
				t.Errorf("%d frames: %s is %v", frames, name, s)
			}
		}
	}
}

// A run that is no result of its settings is refused and leaves the file unchanged.
func TestWhatIsNoResult(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	good := result(t, root, "synther", 1)
	if _, err := AddResults(path, []*Run{good}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	bad := map[string]func(r *Run){
		"has not ended":             func(r *Run) { r.Done = false },
		"it was to be is not known": func(r *Run) { r.Failed = "NaN" },
		"at step 5,000 of 20,000":   func(r *Run) { r.Steps = 20_000 },
		"line 3":                    func(r *Run) { r.Changed = "line 3 is not what the run wrote" },
		"by hand":                   func(r *Run) { r.Changes = []Change{{Knob: "ratio", By: "driver"}} },
		"or forked":                 func(r *Run) { r.Forked = "1000" },
		"are not known":             func(r *Run) { r.Fingerprint = "" },
	}
	ended := result(t, root, "redq", 1)
	for want, change := range bad {
		r := *ended
		change(&r)
		if _, err := AddResults(path, []*Run{&r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	whole := *ended
	whole.Steps = whole.Step
	if err := whole.IsResult(); err != nil {
		t.Error(err)
	}
	scheduled := *result(t, root, "redq", 50, knob(1600, "ratio", 0.5, "schedule"))
	if err := scheduled.IsResult(); err != nil {
		t.Errorf("planned changes are settings: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
}

// Files that are not results give an error of one line, and nothing is read from them.
func TestFilesThatAreNoResults(t *testing.T) {
	root := t.TempDir()
	other := result(t, root, "synther", 1)
	good := formatResults(nil, []*Run{other})
	head, rows, _ := strings.Cut(string(good), "\n")
	first, _, _ := strings.Cut(rows, "\n")
	cases := map[string]string{
		"":               "want columns task,method",
		"a,b\n1,2\n":     "want columns task,method",
		head + "\n1,2\n": "line 2 has 2 columns, and the first line 25: it is cut off, or of another file: take it out",
		head + "\n" + strings.Replace(first, ",abc123,1,", ",abc123,one,", 1):   "line 2",
		head + "\n" + strings.Replace(first, ",1000,10.0,", ",-,10.0,", 1):      "line 2",
		head + "\n" + first[:strings.LastIndex(first, ",")] + ",\"\x1b]52;c;\"": "want a number",
		head + "\n" + first[:strings.LastIndex(first, ",")] + ",1500":           "want a multiple",
	}
	for text, want := range cases {
		path := filepath.Join(t.TempDir(), "r.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		runs, err := ReadResults(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") || runs != nil {
			t.Errorf("%.60q: %v, %d runs", text, err, len(runs))
		}
		if _, err := AddResults(path, []*Run{other}); err == nil {
			t.Errorf("%.60q was written over", text)
		}
	}
	huge := filepath.Join(root, "huge.csv")
	if err := os.WriteFile(huge, good, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxResults+1); err != nil { // sparse: it takes no room
		t.Fatal(err)
	}
	if runs, err := ReadResults(huge); err == nil || !strings.HasSuffix(err.Error(), "huge.csv: it has more than 256 MiB: keep the results of other studies in files of their own") || runs != nil {
		t.Errorf("a file that is too large: %v, %d runs", err, len(runs))
	}
	if _, err := ReadResults(filepath.Join(root, "none.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Whatever a file holds, reading it neither panics nor lets control characters through, and results
// that were read can be written and read again.
func FuzzReadResults(f *testing.F) {
	row := "cheetah-run,synther,demo,,abc,1,5000,cpu,v1,1000,10.0,5"
	head := strings.Join(resultColumns, ",") + "," + Return
	f.Add(head + "\n" + row + "\n")
	f.Add(fmt.Sprintf("%s\n%s\n\"a\x1b[2J\"%s\n", head, row, row[len("cheetah-run"):]))
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := readResults(strings.NewReader(text), "f.csv")
		if err != nil {
			return
		}
		for _, r := range runs {
			if strings.ContainsAny(r.Task+r.Method+r.Scale+r.Variant+r.Fingerprint+r.Device+r.Version, "\x1b\n\x07") {
				t.Errorf("%q", fmt.Sprint(r.Key()))
			}
		}
		again, err := readResults(bytes.NewReader(formatResults(runs, nil)), "f.csv")
		if err != nil || len(again) > len(runs) {
			t.Errorf("%v: %d runs, then %d", err, len(runs), len(again))
		}
	})
}

// A run and its own rows in a results file, which have six digits, do not differ.
func TestARunAndItsRowsInAFileDoNotDiffer(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1.3942607630660078, 14.144327}, run.Line{Type: "done", Step: 2000, Member: run.NoMember})
	r.Fingerprint, r.Steps = "f", 2000
	if _, notes := Cells(append([]*Run{r}, kept(t, []*Run{r})...), nil); len(notes) != 1 || strings.Contains(notes[0], "differ") {
		t.Errorf("%q", notes)
	}
}

// A seed that ended with its cohort gives way to the same seed on its own, which is a result; one that diverged
// itself stays.
func TestASeedThatWasCutOffGivesWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	cohort := journal(t, t.TempDir(), "t", "pgr", 0, []float64{1, 2})
	cohort.Fingerprint, cohort.Steps, cohort.Step = "f", 5000, 2841
	cohort.Failed, cohort.Diverged, cohort.blamed = "train agent: norm", true, &blame{2841, 0, "train agent: norm"}
	cohort.Members = append(cohort.Members, Member{Seed: 1, Series: cohort.Members[0].Series})
	alone := journal(t, t.TempDir(), "t", "pgr", 1, []float64{1, 2, 3, 4, 5}, run.Line{Type: "done", Step: 5000, Member: run.NoMember})
	alone.Fingerprint, alone.Steps = "f", 5000
	for i, c := range []struct {
		add  *Run
		want int
	}{{cohort, 2}, {alone, 1}, {cohort, 0}, {alone, 0}} {
		if n, err := AddResults(path, []*Run{c.add}); n != c.want || err != nil {
			t.Errorf("%d: %d added, %v, want %d", i, n, err, c.want)
		}
	}
	all, err := ReadResults(path)
	if err != nil || len(all) != 2 || !all[0].Diverged || all[1].Failed != "" || all[1].Seed != 1 {
		t.Errorf("%v: %+v", err, all)
	}
}

// A results file that could not be read again is not written.
func TestResultsFilesHaveABound(t *testing.T) {
	all, path := t.TempDir(), filepath.Join(t.TempDir(), "results.csv")
	one := result(t, all, "pgr-curiosity", 1)
	if n, err := AddResults(path, []*Run{one}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func(n int64) { maxResults = n }(maxResults)
	maxResults = int64(len(before))
	two := result(t, all, "pgr-curiosity", 2)
	if _, err := AddResults(path, []*Run{two}); err == nil || !strings.Contains(err.Error(), "files of their own") {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("%v, it has changed", err)
	}
}
