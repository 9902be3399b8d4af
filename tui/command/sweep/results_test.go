package sweep

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/tui/testing/commandtest"
)

// cohorts is the grid of a preset with several members.
func cohorts(t *testing.T, seeds string) (*sweep.Grid, error) {
	t.Helper()
	preset := filepath.Join(t.TempDir(), "cohort.toml")
	if err := os.WriteFile(preset, []byte("members = 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := sweepFlags{preset: preset, tasks: []string{"cheetah-run"}, methods: []string{"sac"}, scale: "demo", seeds: seeds, device: "cpu", out: filepath.Join(t.TempDir(), "s"),
		changed: func(string) bool { return false }}
	return f.grid(commandtest.Deps(), io.Discard)
}

// kept writes results of a job's seeds into a new file.
func kept(t *testing.T, g *sweep.Grid, j sweep.Job, seeds ...uint64) (path string) {
	t.Helper()
	file := &sweepResultsFile{path: filepath.Join(t.TempDir(), "study.csv"), grid: g}
	keys, err := file.keys(j)
	if err != nil {
		t.Fatal(err)
	}
	var runs []*report.Run
	for _, seed := range seeds {
		series := map[string]report.Series{report.Return: {{Step: j.Steps, WallS: 1, Value: 5}}}
		runs = append(runs, &report.Run{Task: j.Task, Method: j.Method, Scale: keys[0].Scale, Fingerprint: keys[0].Fingerprint, Seed: seed, Step: j.Steps, Done: true,
			Members: []report.Member{{Seed: seed, Series: series}}})
	}
	if _, err := report.AddResults(file.path, runs); err != nil {
		t.Fatal(err)
	}
	return file.path
}

// A job of several seeds is left out if results of all of them stand in the file.
func TestACohortIsLeftOutWithAllItsSeeds(t *testing.T) {
	g, err := cohorts(t, "0,2")
	if err != nil || len(g.Jobs) != 2 {
		t.Fatal(g, err)
	}
	var said bytes.Buffer
	file := &sweepResultsFile{path: kept(t, g, g.Jobs[0], 0, 2, 3), grid: g}
	if err := file.leave(&said); err != nil {
		t.Fatal(err)
	}
	if left := leftOut(t, g); !slices.Equal(left, []int{1}) || len(file.standing) != 2 || !strings.HasPrefix(said.String(), "1 of 2 stand in ") {
		t.Errorf("left out are %v, with %d results; said %q", left, len(file.standing), said.String())
	}
	check := func() error {
		return (&statusFlags{check: true}).status(t.Context(), g.Path(), io.Discard)
	}
	if err := check(); err == nil || err.Error() != "sweep status: 1 of 2 jobs are not done yet" {
		t.Errorf("before the end: %v", err)
	}
	if ends(t, g, g.Jobs[0]); check() != nil {
		t.Error(check())
	}
}

// leftOut are the indexes of the jobs that each process that opens a sweep leaves out.
func leftOut(t *testing.T, g *sweep.Grid) (left []int) {
	t.Helper()
	again, err := sweep.Open(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range again.Jobs {
		if again.IsLeft(j) {
			left = append(left, j.Index)
		}
	}
	return left
}

// No seed is in two jobs.
func TestCohortsThatShareASeed(t *testing.T) {
	if _, err := cohorts(t, "4,0-1"); err == nil || !strings.Contains(err.Error(), "with members = 2 the run of seed 0 trains seed 1 as well: want seeds that are 2 apart") {
		t.Errorf("%v", err)
	}
}

// The report that a sweep names at its end shows the results that stood in the file, the runs below
// the sweep's folder, and those of them that the file does not take.
func TestTheReportOfTheSameRuns(t *testing.T) {
	done := &report.Run{Done: true, Fingerprint: "f"}
	byHand := &report.Run{Done: true, Fingerprint: "f", Changes: []report.Change{{Knob: "utd"}}}
	for _, c := range []struct {
		standing, below []*report.Run
		want            string
	}{
		{nil, []*report.Run{done}, "s"},
		{[]*report.Run{done}, nil, "study.csv"},
		{[]*report.Run{done}, []*report.Run{done}, "study.csv"},
		{[]*report.Run{done}, []*report.Run{done, byHand}, "s study.csv"},
	} {
		if got := reported(slices.Concat(c.standing, c.below), "s", &sweepResultsFile{path: "study.csv", standing: c.standing}); got != c.want {
			t.Errorf("%d in the file, %d below: report %s, want %s", len(c.standing), len(c.below), got, c.want)
		}
	}
}

// A job whose numbers diverged is a result: it is kept, said, left out by the next sweep, and reported
// from its folder alone. What its machine ended is kept too, and made again.
func TestAJobThatDivergedIsAResult(t *testing.T) {
	g, err := (&sweepFlags{tasks: []string{"cheetah-run"}, methods: []string{"sac"}, scale: "demo", seeds: "0-1", device: "cpu", out: filepath.Join(t.TempDir(), "s"),
		changed: func(string) bool { return false }}).grid(commandtest.Deps(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for i, last := range []run.Line{
		{Type: "diverged", Step: 841, Member: run.NoMember, Body: map[string]any{"doing": "train agent", "position": "p", "program": "critic", "error": "norm"}},
		{Type: "note", Step: 841, Member: run.NoMember, Body: map[string]any{"text": "the disk is full"}},
	} {
		j := g.Jobs[i]
		doc, err := os.ReadFile(g.Config(j))
		if err != nil {
			t.Fatal(err)
		}
		folder, err := run.Create(g.Run(j), doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []run.Line{
			{Type: "start", Member: run.NoMember, Body: map[string]any{"task": j.Task, "method": j.Method, "scale": "demo", "seed": j.Seed, "device": "cpu go"}}, last,
			{Type: "failed", Step: 841, Member: run.NoMember, Body: map[string]any{"error": "step 841: why"}},
		} {
			if err := folder.Append(l); err != nil {
				t.Fatal(err)
			}
		}
		folder.Close()
	}
	file := &sweepResultsFile{path: filepath.Join(t.TempDir(), "study.csv"), grid: g}
	for _, want := range []string{"2 new, of 2 results here\n1 of 2 stand in " + file.path + " already, 1 of them because they diverged\n", "1 of 2 stand in "} {
		var said bytes.Buffer
		if err := file.leave(&said); err != nil || !strings.Contains(said.String(), want) {
			t.Errorf("%v, said %q, want %q", err, said.String(), want)
		}
		if left := leftOut(t, g); !slices.Equal(left, []int{0}) || len(file.standing) != 0 {
			t.Errorf("left out are %v, with %d results", left, len(file.standing))
		}
	}
	a, err := g.Begin(g.Jobs[0])
	if err == nil {
		err = a.End(sweep.Ending{How: "train agent: norm", Status: 1, Step: 841, Diverged: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	ends(t, g, g.Jobs[1])
	var shown strings.Builder
	if err := (&statusFlags{check: true}).status(t.Context(), g.Path(), &shown); err == nil || err.Error() != "sweep status: 1 of 2 jobs failed" || !strings.Contains(shown.String(), "failed: step 841: train agent: norm") {
		t.Errorf("%v: %s", err, &shown)
	}
	if all, err := report.ReadResults(file.path); err != nil || len(all) != 2 || all[0].Step != 841 || all[0].Failed != "train agent: norm" || !all[0].Diverged || !all[1].CutOff() {
		t.Errorf("%v, %+v", err, all)
	}
}

// Where builds have results of one run with other returns, one that finished is the one that stands for the job.
func TestOfSeveralBuildsTheOneThatFinishedStands(t *testing.T) {
	ended := func(version string, value float64) *report.Run {
		return &report.Run{Task: "t", Method: "sac", Scale: "demo", Fingerprint: "f", Version: version, Step: 2000, Steps: 2000, Done: true,
			Members: []report.Member{{Series: map[string]report.Series{report.Return: {{Step: 1000, WallS: 1, Value: value}, {Step: 2000, WallS: 2, Value: value}}}}}}
	}
	for i, versions := range [][2]string{{"a", "b"}, {"b", "a"}} { // a file is sorted by version
		whole, diverged := ended(versions[0], 5), ended(versions[1], 6)
		diverged.Failed, diverged.Diverged, diverged.Done = "norm", true, false
		file := &sweepResultsFile{path: filepath.Join(t.TempDir(), "study.csv")}
		if n, err := report.AddResults(file.path, []*report.Run{whole, diverged}); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		byKey, err := file.read()
		if r := byKey[whole.Key()]; err != nil || len(byKey) != 1 || r.Failed != "" {
			t.Errorf("%d: %v, %+v", i, err, r)
		}
	}
}
