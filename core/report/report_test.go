package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/report/axes"
	"pgrlab/core/run"
)

// journal writes a run folder: a start of that method and seed on a task, and one
// evaluation for each return, 1,000 steps apart; more lines follow.
func journal(t *testing.T, root, task, method string, seed int, returns []float64, more ...run.Line) *Run {
	t.Helper()
	dir := filepath.Join(root, fmt.Sprintf("%s-%s-%d-%d", task, method, seed, len(more)))
	f, err := run.Create(dir, []byte("task = '"+task+"'\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := []run.Line{{Type: "start", Member: run.NoMember, Body: map[string]any{
		"task": task, "method": method, "scale": "demo", "seed": seed, "device": "cpu test",
		"obs": map[string]any{"version": "v1", "host": "here", "device": "cpu test, 2 threads", "time": "2025-03-01T12:00:00Z"},
	}}}
	for i, v := range returns {
		lines = append(lines, run.Line{Type: "evaluated", Step: 1000 * (i + 1), Member: run.NoMember, WallS: float64(10 * (i + 1)),
			Body: map[string]any{"return_mean": run.Float(v), "return_std": 1, "returns": run.Floats([]float64{v}), "episodes": 1}})
	}
	for _, l := range append(lines, more...) {
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func knob(step int, name string, to any, by string) run.Line {
	return run.Line{Type: "knob", Step: step, Member: run.NoMember, Body: map[string]any{
		"id": 1, "knob": name, "from": 1.0, "to": to, "class": "batch", "position": fmt.Sprint(step), "obs": map[string]any{"by": by},
	}}
}

// A change of the configuration that someone cancelled is one by hand; what a person planned and took
// back is none.
func TestCancelledPlans(t *testing.T) {
	cancelled := func(of string) run.Line {
		return run.Line{Type: "cancelled", Step: 1500, Member: run.NoMember, Body: map[string]any{"at": "2000", "knob": "guidance", "value": "3", "now": true, "of": of, "by": "bo"}}
	}
	root := t.TempDir()
	if r := journal(t, root, "t", "m", 1, []float64{1, 2}, cancelled("ana")); r.Badge() != "CLEAN" || len(r.Changes) != 0 {
		t.Errorf("%s %+v", r.Badge(), r.Changes)
	}
	if r := journal(t, root, "t", "m", 2, []float64{1, 2}, cancelled("")); r.Badge() != "TOUCHED ×1" || r.touched() != "cancelled:2000:guidance=3!" {
		t.Errorf("%s %+v", r.Badge(), r.Changes)
	}
}

func TestAJournalIsRead(t *testing.T) {
	r := journal(t, t.TempDir(), "t", "m", 7, []float64{1, 2}, knob(1500, "guidance", 3.0, "driver"), knob(1600, "ratio", 0.5, "schedule"),
		knob(1700, "relevance", "td", ""),
		run.Line{Type: "scores", Step: 2000, Member: run.NoMember, Body: map[string]any{"relevance": "td", "min": run.Float(math.Inf(-1)), "quantiles": []float64{1, 2, 3}}},
		run.Line{Type: "refit", Step: 2000, Member: run.NoMember, Body: map[string]any{"loss": 0.5, "obs": map[string]any{"seconds": 4}}},
		run.Line{Type: "done", Step: 2500, Member: run.NoMember, WallS: 99})
	if r.Seed != 7 || r.Badge() != "TOUCHED ×2" || !r.Done || r.Step != 2500 || r.WallS != 99 || r.touched() != "1500:guidance=3 1700:relevance=td" {
		t.Errorf("%+v %s %s", r, r.Badge(), r.touched())
	}
	for name, want := range map[string]float64{Return: 1, "evaluated/episodes": 1, "scores/min": math.Inf(-1), "scores/q90": 3, "refit/seconds": 4, "refit/loss": 0.5} {
		if s := r.Members[0].Series[name]; len(s) == 0 || s[0].Value != want {
			t.Errorf("%s is %v, want %v", name, s, want)
		}
	}
	if s := r.Members[0].Series["evaluated/returns"]; s != nil {
		t.Errorf("a list has numbers: %v", s)
	}
}

// A few seeds are shown as single points, five as a spread. Runs of different lengths are compared
// where all were evaluated. Touched runs, runs with other settings and repeated seeds never enter a
// clean cell.
func TestCells(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range 5 {
		runs = append(runs, journal(t, root, "t", "pgr", seed, []float64{10, 20, 30 + float64(seed)}))
	}
	short := journal(t, root, "t", "sac", 0, []float64{5, 15})
	touched := journal(t, root, "t", "pgr", 9, []float64{100, 200, 300}, knob(10, "ratio", 0.9, "driver"))
	other := journal(t, root, "t", "pgr", 10, []float64{7, 8, 9})
	other.Variant = "ratio=0.75"
	again := journal(t, root, "t", "pgr", 1, []float64{900}, run.Line{Type: "done", Step: 1000, Member: run.NoMember})
	none := journal(t, root, "t", "pgr", 11, nil)
	runs = append(runs, short, touched, other, again, none, runs[0])
	r, err := New(runs, Options{Methods: []string{"sac", "pgr"}, Reported: []Reported{{Task: "t", Method: "pgr", Mean: 50, Std: 5, Steps: 100_000, Seeds: 5, Source: "Table 1"}}})
	if err != nil {
		t.Fatal(err)
	}
	task := r.Tasks[0]
	if task.Step != 2000 || !task.StepExact || task.From != 1000 || task.Threshold != 10 {
		t.Errorf("step %d, exact %v, from %d, threshold %v", task.Step, task.StepExact, task.From, task.Threshold)
	}
	var labels []string
	for _, row := range task.Rows {
		labels = append(labels, fmt.Sprintf("%s n=%d", row.Label, row.N))
	}
	if want := []string{"sac n=1", "pgr n=5", "pgr, ratio=0.75 n=1", "pgr · TOUCHED ×1 n=1"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
	if few := task.Rows[0]; few.Mean != nil || few.IQM != nil || few.Points[0] != 15 || *few.Reaches.Points[0] != 2000 {
		t.Errorf("one seed: %+v", few)
	}
	if pgr := task.Rows[1]; *pgr.Mean != 20 || *pgr.Std != 0 || *pgr.IQM != 20 || *pgr.Area.Mean != 15 || *pgr.Reaches.Median != 1000 || len(pgr.Reported) != 1 {
		t.Errorf("five seeds: %+v", pgr)
	}
	if p := task.Better[1][0]; p != nil {
		t.Errorf("a probability from one seed: %+v", p)
	}
	if task.ThresholdOf != "pgr" {
		t.Errorf("the threshold is half of %q", task.ThresholdOf)
	}
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "same seed 1") || !strings.Contains(r.Notes[1], "no evaluation yet") {
		t.Errorf("%q", r.Notes)
	}

	late, err := New(runs, Options{Step: 3000, Threshold: new(32.0)})
	if err != nil {
		t.Fatal(err)
	}
	pgr := late.Tasks[0].Rows[0]
	if pgr.N != 5 || *pgr.Mean != 32 || *pgr.IQM != 32 || pgr.IQMIn.Low < 30 || pgr.IQMIn.High > 34 || *pgr.Reaches.Median != 3000 || pgr.Reaches.N != 3 {
		t.Errorf("%+v %+v", pgr, pgr.Reaches)
	}
	if sac := late.Tasks[0].Rows[3]; sac.Label != "sac" || sac.N != 0 || sac.Missing != 1 {
		t.Errorf("%+v", sac)
	}
	if _, err := New(runs, Options{Step: 4000}); err == nil {
		t.Error("no run got to step 4000")
	}
}

func TestTheReportIsTheSameAgain(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for _, task := range []string{"a", "b"} {
		for _, method := range []string{"sac", "pgr"} {
			for seed := range 5 {
				v := float64(seed*seed*len(method)%7 + len(method)*seed)
				runs = append(runs, journal(t, root, task, method, seed, []float64{v, 2 * v}))
			}
		}
	}
	o := Options{Full: map[string]float64{"a": 1000, "b": 1000}}
	var texts, values [2]bytes.Buffer
	for i := range texts {
		r, err := New(runs, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Markdown(&texts[i]); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&values[i]).Encode(r); err != nil {
			t.Fatal(err)
		}
		if a := r.Aggregate; a == nil || !slices.Equal(a.Tasks, []string{"a", "b"}) || a.Rows[0].IQMIn == nil {
			t.Errorf("aggregate %+v", a)
		}
	}
	if texts[0].String() != texts[1].String() || values[0].String() != values[1].String() {
		t.Error("two reports of the same runs differ")
	}
	for _, want := range []string{"(n=5)", "# Over 2 tasks", "| 5, 5 |", "at step 2,000"} {
		if !strings.Contains(texts[0].String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &texts[0])
		}
	}
}

func TestFoldersThatAreNoRuns(t *testing.T) {
	root := t.TempDir()
	write := func(dir, text string) string {
		dir = filepath.Join(root, dir)
		for name, content := range map[string]string{run.ConfigName: "", run.JournalName: text} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	start := `{"type":"start","step":0,"task":"t","method":"m","seed":1}` + "\n"
	for text, want := range map[string]string{
		"":                                 "empty",
		"hello\nyou\n":                     "journal line 1",
		`{"type":"note","step":0}` + "\n":  "begins with start",
		`{"type":"start","step":0}` + "\n": "without task",
		start + "\x00\x00\n" + start:       "journal line 2",
		start + `{"type":"evaluated","step":1,"member":3}` + "\n": "member 3 of 1",
	} {
		_, err := Load(write(fmt.Sprint("x", len(text)), text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in one line", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(root, "nowhere")); err == nil {
		t.Error("there is no such folder")
	}
	if _, err := Find(t.TempDir()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("an empty folder: %v", err)
	}
	if found, err := Find(root); err != nil || len(found) != 6 {
		t.Errorf("%v, %v", found, err)
	}
	torn := write("torn", start+`{"type":"evaluated","step":1000,"return_mean":5}`+"\n"+`{"type":"eval`)
	if r, err := Load(torn); err != nil || len(r.Members[0].Series[Return]) != 1 {
		t.Errorf("a torn last line: %v", err)
	}
}

// A folder of runs may be a symbolic link, and so may the runs in it; each run is found once, and
// its own folder rather than a link to it.
func TestRunsBehindLinks(t *testing.T) {
	root := t.TempDir()
	own := journal(t, filepath.Join(root, "disk"), "t", "m", 1, []float64{1}).Dir
	other := journal(t, filepath.Join(root, "elsewhere"), "t", "m", 2, []float64{1}).Dir
	for link, to := range map[string]string{"runs": filepath.Join(root, "disk"), "disk/another": other, "disk/first": own, "disk/nowhere": "/nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	runs := filepath.Join(root, "runs")
	want := []string{filepath.Join(runs, filepath.Base(own)), filepath.Join(runs, "another")}
	for _, path := range []string{runs, runs + "/"} {
		if found, err := Find(path); err != nil || !slices.Equal(found, want) {
			t.Errorf("%s: %v, %v, want %v", path, found, err, want)
		}
	}
	t.Chdir(root)
	if found, err := Find("."); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
}

// The threshold is of a row without changes by hand if there is one, and some run can reach it.
func TestThresholds(t *testing.T) {
	root := t.TempDir()
	touched := journal(t, root, "t", "pgr", 9, []float64{100, 300}, knob(10, "ratio", 0.9, "driver"))
	for _, c := range []struct {
		runs []*Run
		want float64
		of   string
	}{
		{[]*Run{touched, journal(t, root, "t", "sac", 0, []float64{20, 40})}, 20, "sac"},
		{[]*Run{touched}, 150, "pgr · TOUCHED ×1"},
		{[]*Run{journal(t, root, "u", "sac", 0, []float64{-1200, -200})}, -700, "sac"},
		{[]*Run{journal(t, root, "v", "sac", 0, []float64{-204.8, -204})}, -210, "sac"},
		{[]*Run{journal(t, root, "w", "sac", 0, []float64{-100, -300})}, -300, "sac"},
		{[]*Run{journal(t, root, "x", "sac", 0, []float64{-100, 0})}, -50, "sac"},
	} {
		r, err := New(c.runs, Options{Methods: []string{"pgr", "sac"}})
		if err != nil {
			t.Fatal(err)
		}
		task, reached := r.Tasks[0], false
		for _, row := range task.Rows {
			reached = reached || row.Reaches.N > 0
		}
		if task.Threshold != c.want || task.ThresholdOf != c.of || !reached {
			t.Errorf("%s: %v of %q, reached: %v, want %v of %q", task.Task, task.Threshold, task.ThresholdOf, reached, c.want, c.of)
		}
		var b bytes.Buffer
		if err := r.Markdown(&b); err != nil || strings.Contains(b.String(), "about half of the best") != (c.want > 0) || strings.Contains(b.String(), "half way from the first evaluation") != (c.want < 0) {
			t.Errorf("%s: %v\n%s", task.Task, err, b.String())
		}
	}
}

// A run that does not say what its time went into is not drawn as if all of it were something else.
func TestTimeOfRunsThatSayIt(t *testing.T) {
	root := t.TempDir()
	spent := run.Line{Type: "perf", Step: 2000, Member: run.NoMember, WallS: 30, Body: map[string]any{"spent_s": map[string]any{"agent": 6}}}
	r, err := New([]*Run{journal(t, root, "t", "pgr", 0, []float64{1, 2}, spent), journal(t, root, "t", "pgr", 1, []float64{1, 2})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := r.time()[0]
	if len(p.Marks) != 2 || p.Names[0] != "pgr\n(n=1)" || math.Abs(p.Marks[0].Upper[0]-0.5) > 1e-12 || math.Abs(p.Marks[1].Upper[0]-2.5) > 1e-12 {
		t.Errorf("%q, %+v", p.Names, p.Marks)
	}
}

// Every figure is drawn, is the same each time, and says what it cannot show.
func TestFigures(t *testing.T) {
	root := t.TempDir()
	line := func(kind string, body map[string]any) run.Line {
		return run.Line{Type: kind, Step: 2000, Member: run.NoMember, Body: body}
	}
	var runs []*Run
	for seed := range 6 {
		r := journal(t, root, "t", "pgr", seed, []float64{10, 20 + float64(seed), 30},
			line("dormant", map[string]any{"ratio": 0.1}), line("q_bias", map[string]any{"bias": 3}),
			line("generated", map[string]any{"dynamics": map[string]any{"combined": 2}}),
			line("perf", map[string]any{"spent_s": map[string]any{"agent": 6}}),
			line("scores", map[string]any{"quantiles": []float64{1, 2, 3}}), line("refit", map[string]any{"obs": map[string]any{"seconds": 4}}))
		r.Settings = map[string]string{"knobs.refit_every": "1000"}
		runs = append(runs, r)
	}
	r, err := New(append(runs, journal(t, root, "u", "sac", 0, []float64{1})), Options{Reported: []Reported{{Task: "t", Method: "pgr", Mean: 50, Std: 5, Steps: 4000}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Figures() {
		for format, magic := range map[string]string{"svg": "<?xml", "png": "\x89PNG"} {
			var a, b bytes.Buffer
			if err := r.Figure(&a, f.Name, format); err != nil || !strings.HasPrefix(a.String(), magic) {
				t.Errorf("%s as %s: %v", f.Name, format, err)
			}
			if format == "png" {
				continue // the same marks on another canvas
			}
			if err := r.Figure(&b, f.Name, format); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s as %s: another picture of the same", f.Name, format)
			}
		}
	}
	bare, err := New([]*Run{journal(t, root, "v", "sac", 0, []float64{1})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Figure(&bytes.Buffer{}, "dormant", "svg"); err == nil {
		t.Error("a figure of nothing")
	}
}

// A result of runs with a noisy TV stands beside such runs alone, also if they come from a results
// file. One that was measured elsewhere says where, and no figure has it.
func TestReportedResultsOfATV(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed, c := range []struct{ variant, set string }{{"", "'off'"}, {"tv=noise", "'noise'"}, {"entropy=0.1, tv=noise", ""}, {"entropy=0.1", ""}} {
		r := journal(t, root, "maze", "ppo", seed, []float64{1, 2})
		r.Variant = c.variant
		if c.set != "" {
			r.Settings = map[string]string{"knobs.tv": c.set}
		}
		runs = append(runs, r)
	}
	table := Reported{Task: "maze", Method: "ppo", Mean: 7, Std: 3, Steps: 2000, Seeds: 10, Source: "a table", TV: "noise", Where: "from elsewhere"}
	r, err := New(runs, Options{Reported: []Reported{table}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Tasks[0].Rows {
		if (len(row.Reported) == 1) != strings.Contains(row.Variant, "tv=noise") {
			t.Errorf("%s: %+v", row.Label, row.Reported)
		}
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil || strings.Count(text.String(), "| 7.00 ± 3.00 at 2,000 (n=10, a table, from elsewhere: not comparable) |") != 2 {
		t.Errorf("%v\n%s", err, text.String())
	}
	for _, p := range append(r.final(), r.curves(quantity{Return, "return"}, true)...) {
		for _, m := range p.Marks {
			if m.Kind == axes.Paper || m.Kind == axes.Dashed {
				t.Errorf("%+v", m)
			}
		}
	}
}
