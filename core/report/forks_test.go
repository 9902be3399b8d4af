package report

import (
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

// atOnce is a planned change that is made now.
func atOnce(step int, name string, to any) run.Line {
	l := knob(step, name, to, bySchedule)
	l.Body.(map[string]any)["now"] = true
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
