package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// finished is a run by a version that has ended, of a seed of pgr on task t.
func finished(t *testing.T, version string, seed int, returns ...float64) *Run {
	t.Helper()
	r := journal(t, t.TempDir(), "t", "pgr", seed, returns, run.Line{Type: "done", Step: 1000 * len(returns), Member: run.NoMember})
	r.Version, r.Fingerprint, r.Steps = version, "f", 1000*len(returns)
	return r
}

// orders gives to each all orders of some runs.
func orders(runs []*Run, each func([]*Run)) {
	if len(runs) == 0 {
		each(nil)
	}
	for i, r := range runs {
		rest := slices.Delete(slices.Clone(runs), i, i+1)
		orders(rest, func(others []*Run) { each(append([]*Run{r}, others...)) })
	}
}

// A mended build that ran a seed again with other returns has a row of its own, in whatever order the runs
// are given; what is the same counts once.
func TestOtherBuildsHaveRowsOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		runs []*Run
		rows []string
		says bool
	}{
		"other numbers": {
			[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "ad9ea1f", 2, 3, 4), finished(t, "6f9814a7", 1, 5, 6), finished(t, "6f9814a7", 3, 7, 8)},
			[]string{"pgr, build 6f9814a7: seeds [1 3], [6 8]", "pgr, build ad9ea1f: seeds [1 2], [2 4]"}, true,
		},
		"the same numbers":          {[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "6f9814a7", 1, 1, 2), finished(t, "6f9814a7", 3, 7, 8)}, []string{"pgr: seeds [1 3], [2 8]"}, false},
		"no seed in common":         {[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "6f9814a7", 3, 7, 8)}, []string{"pgr: seeds [1 3], [2 8]"}, false},
		"one build, other numbers":  {[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "ad9ea1f", 1, 1, 9)}, nil, false},
		"one build, other lengths":  {[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "ad9ea1fd", 1, 1, 2, 3)}, []string{"pgr: seeds [1], [3]"}, false},
		"a shorter one of another ": {[]*Run{finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "6f9814a7", 1, 1, 3, 4)}, []string{"pgr, build 6f9814a7: seeds [1], [3]", "pgr, build ad9ea1fd: seeds [1], [2]"}, true},
	} {
		first := ""
		orders(c.runs, func(runs []*Run) {
			r, err := New(runs, Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			var rows []string
			for _, row := range r.Tasks[0].Rows {
				rows = append(rows, fmt.Sprintf("%s: seeds %v, %v", row.Label, row.Seeds, row.Points))
			}
			if c.rows != nil && !slices.Equal(rows, c.rows) {
				t.Errorf("%s: %q, want %q", name, rows, c.rows)
			}
			text, err := json.Marshal(r.Tasks)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(text)
			}
			if string(text) != first {
				t.Errorf("%s: the order of the runs changes\n%s\nto\n%s", name, first, text)
			}
			var long, short strings.Builder
			r.Markdown(&long)
			r.Summary(&short)
			for _, text := range []string{long.String(), short.String()} {
				if strings.Contains(text, "pgr on t: builds whose returns differ ran seed 1: each build has a row of its own") != c.says {
					t.Errorf("%s: %s", name, text)
				}
			}
		})
	}
}

// A device is part of a build.
func TestOtherDevicesHaveRowsOfTheirOwn(t *testing.T) {
	a, b := finished(t, "v1", 1, 1, 2), finished(t, "v1", 1, 1, 3)
	b.Device = "cpu other"
	cells, notes := Cells([]*Run{a, b}, nil)
	if len(cells) != 2 || len(notes) != 0 || cells[0].Variant != "on cpu other" || cells[1].Variant != "on cpu test" {
		t.Errorf("%+v, %q", cells, notes)
	}
}

// A results file keeps what builds returned that differ, once each, also if two files were put together.
func TestAResultsFileKeepsEachBuild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	for i, c := range []struct {
		add  *Run
		want int
	}{
		{finished(t, "ad9ea1fd", 1, 1, 2), 1}, {finished(t, "6f9814a7", 1, 5, 6), 1}, {finished(t, "ad9ea1f", 1, 1, 2), 0}, {finished(t, "0123456", 1, 5, 6), 0}, {finished(t, "6f9814a7", 2, 7, 8), 1},
	} {
		if n, err := AddResults(path, []*Run{c.add}); n != c.want || err != nil {
			t.Errorf("%d: %d added, %v, want %d", i, n, err, c.want)
		}
	}
	all, err := ReadResults(path)
	if err != nil || len(all) != 3 || all[0].Dir == all[1].Dir {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	orders(all, func(runs []*Run) {
		if r, err := New(runs, Options{}); err != nil || len(r.Tasks[0].Rows) != 2 || len(r.Notes) != 0 {
			t.Errorf("%v: %+v", err, r)
		}
	})
}

// Whatever the order in which results are added, a run that finished stands for those of other builds that
// diverged while they agreed with it. By one build the first end stays.
func TestAFinishedRunStandsForThoseThatDiverged(t *testing.T) {
	diverged := func(version string, step int, returns ...float64) *Run {
		r := finished(t, version, 1, returns...)
		r.Done, r.Failed, r.Diverged, r.Step, r.Steps = false, "norm", true, step, 3000
		return r
	}
	whole := finished(t, "0123456", 1, 1, 2, 3)
	whole.Steps = 3000
	orders([]*Run{whole, diverged("ad9ea1fd", 343), diverged("6f9814a7", 2400, 1, 2), diverged("7777777", 3000, 1, 2, 3)}, func(runs []*Run) {
		path := filepath.Join(t.TempDir(), "r.csv")
		for _, r := range runs {
			if _, err := AddResults(path, []*Run{r}); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := ReadResults(path); err != nil || len(all) != 1 || all[0].Version != "0123456" || all[0].Failed != "" {
			t.Errorf("%v: %+v", err, all)
		}
	})
	if all := kept(t, []*Run{diverged("0123456", 343), whole}); len(all) != 1 || all[0].Step != 343 {
		t.Errorf("%+v", all)
	}
	if all := kept(t, []*Run{diverged("ad9ea1fd", 1400, 9), whole}); len(all) != 2 || all[0].Version != "0123456" {
		t.Errorf("with other returns: %+v", all)
	}
}

// Two builds of one key stand in a file in one order, whichever came first.
func TestBuildsStandInOneOrder(t *testing.T) {
	a, b := finished(t, "ad9ea1fd", 1, 1, 2), finished(t, "6f9814a7", 1, 1, 3)
	if x, y := formatResults(nil, []*Run{a, b}), formatResults([]*Run{b}, []*Run{a}); string(x) != string(y) {
		t.Errorf("%s\n%s", x, y)
	}
}

// Commits are the same in a shorter form; other versions are not.
func TestVersionsThatAreNoCommits(t *testing.T) {
	for _, c := range []struct {
		v, w string
		same bool
	}{{"ad9ea1f", "ad9ea1fd", true}, {"ad9ea1", "ad9ea1fd", false}, {"v1.10.1", "v1.10.12", false}, {"ad9ea1fd", "ad9ea1fd-dirty", false}, {"v1.10.1", "v1.10.1", true}} {
		if got := sameVersion(c.v, c.w); got != c.same || sameVersion(c.w, c.v) != c.same {
			t.Errorf("%s and %s: %v", c.v, c.w, got)
		}
	}
}

// A method of which builds have rows of their own on one task is named where it is missing over several tasks.
func TestRowsOfBuildsOverSeveralTasks(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for _, task := range []string{"a", "b"} {
		for seed := range 5 {
			runs = append(runs, journal(t, root, task, "sac", seed, []float64{1, float64(seed)}), journal(t, root, task, "pgr", seed, []float64{2, float64(seed)}))
		}
	}
	other := journal(t, t.TempDir(), "b", "pgr", 0, []float64{2, 9})
	other.Version = "v2"
	o := Options{Full: map[string]float64{"a": 1, "b": 1}}
	for extra, want := range map[*Run]int{nil: 0, other: 1} {
		all := runs
		if extra != nil {
			all = append(slices.Clone(runs), extra)
		}
		r, text := texts(t, all, o)
		if n := strings.Count(text, "each build has a row of its own and not on all of these tasks: pgr, build v1 · demo on b, pgr, build v2 · demo on b.\n"); n != want || len(r.Aggregate.Rows) != 2-want {
			t.Errorf("%d times, %+v", n, r.Aggregate)
		}
	}
}

// Of runs of one seed the longest counts, then the one that came to its own end: what a machine cut off is not
// less than what was stopped, or has hardly begun. The order of the runs decides nothing.
func TestWhichRunOfASeedCounts(t *testing.T) {
	long, begun, stopped, whole := finished(t, "v1", 1, 1, 2, 3), finished(t, "v1", 1, 1), finished(t, "v1", 1, 1, 2), finished(t, "v1", 1, 1, 2, 3, 4)
	long.Done, long.Failed, long.Step, long.Steps = false, "no space", 3400, 4000
	begun.Done, begun.Steps = false, 4000
	stopped.Steps = 4000
	diverged := finished(t, "v1", 1, 1, 2, 3)
	diverged.Done, diverged.Failed, diverged.Diverged = false, "norm", true
	for _, c := range []struct {
		want *Run
		of   []*Run
	}{{long, []*Run{long, begun, stopped}}, {diverged, []*Run{long, begun, diverged}}, {whole, []*Run{long, begun, diverged, whole}}} {
		orders(c.of, func(runs []*Run) {
			if cells, _ := Cells(runs, nil); len(cells) != 1 || cells[0].Seeds[0].Run != c.want {
				t.Errorf("%+v", cells[0].Seeds[0].Run)
			}
		})
	}
}
