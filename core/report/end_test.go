package report

import (
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// at is an evaluation at a step that may be off the cadence.
func at(step int, v float64) run.Line {
	return run.Line{Type: "evaluated", Step: step, Member: run.NoMember,
		Body: map[string]any{"return_mean": run.Float(v), "return_std": 1, "returns": run.Floats([]float64{v}), "episodes": 1}}
}

// Seeds that were first evaluated after the step do not count, and do not move the beginning of the
// area of those that do. That they got there is not denied.
func TestSeedsThatWereEvaluatedLater(t *testing.T) {
	root := t.TempDir()
	runs := []*Run{
		journal(t, root, "t", "sac", 0, []float64{1, 2, 3, 4, 5}),
		journal(t, root, "t", "drqv2", 0, nil, at(5000, 7), at(10_000, 8)),
	}
	r, err := New(runs, Options{Step: 4000, Methods: []string{"sac", "drqv2"}})
	if err != nil {
		t.Fatal(err)
	}
	task := r.Tasks[0]
	if task.From != 1000 || task.Rows[0].Area.Points[0] != 2.5 || task.Rows[1].N != 0 || task.Rows[1].Missing != 0 || task.Rows[1].Unscored != 1 {
		t.Errorf("from %d, %+v, %+v", task.From, task.Rows[0], task.Rows[1])
	}
	var text strings.Builder
	if err := r.Markdown(&text); err != nil || !strings.Contains(text.String(), "drqv2: 1 more seed got there, but without an evaluation by step 4,000.") || strings.Contains(text.String(), "did not get to") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// A single evaluation has no area under its curve: the table has no number there.
func TestNoAreaUnderOneEvaluation(t *testing.T) {
	root := t.TempDir()
	var runs []*Run
	for seed := range MinSeeds {
		runs = append(runs, journal(t, root, "t", "sac", seed, []float64{7}))
	}
	runs = append(runs, journal(t, root, "t", "redq", 0, []float64{3}))
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Tasks[0].Rows {
		if row.N == 0 || len(row.Area.Points) > 0 || row.Area.Mean != nil {
			t.Errorf("%s: %+v", row.Label, row)
		}
	}
	var text strings.Builder
	err = r.Markdown(&text)
	for _, want := range []string{"There is no area under the curve", "| 7.00 ± 0.00 (n=5) | – | – |", "| 3 (n=1) | – | – |"} {
		if err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v, no %q in\n%s", err, want, text.String())
		}
	}
}

// Runs are also evaluated at their end, off the cadence. Runs of the same length are compared
// there, others at the last step at which all were evaluated. A run that ended before the others
// were first evaluated does not limit them.
func TestTheCommonStepOfRunsThatEndOffTheCadence(t *testing.T) {
	for _, c := range []struct {
		name  string
		ends  []int // 0: on the cadence alone, at 1,000, 2,000 and 3,000; else at each 1,000 before the end, and at the end
		step  int
		seeds int
		notes int
	}{
		{"of one length", []int{1500, 1500, 1500}, 1500, 3, 0},
		{"of one length, shorter than the cadence", []int{700, 700}, 700, 2, 0},
		{"one is longer", []int{1500, 1500, 0}, 1000, 3, 0},
		{"all are different", []int{1500, 2500, 1200}, 1000, 3, 0},
		{"one was over before the cadence began", []int{0, 700, 0}, 3000, 2, 1},
		{"two were, at different steps", []int{1500, 700, 1500, 800}, 1500, 2, 2},
	} {
		var runs []*Run
		for seed, end := range c.ends {
			returns := []float64{1, 2, 3}
			more := []run.Line{{Type: "done", Step: 3000, Member: run.NoMember}}
			if end > 0 {
				returns, more = returns[:end/1000], []run.Line{at(end, 9), {Type: "done", Step: end, Member: run.NoMember}}
			}
			runs = append(runs, journal(t, t.TempDir(), "t", "pgr", seed, returns, more...))
		}
		r, err := New(runs, Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		task := r.Tasks[0]
		if task.Step != c.step || !task.StepExact || task.Rows[0].N != c.seeds || len(r.Notes) != c.notes {
			t.Errorf("%s: at step %d, exact %v, %d seeds, notes %q", c.name, task.Step, task.StepExact, task.Rows[0].N, r.Notes)
		}
		for _, note := range r.Notes {
			if !strings.Contains(note, "is left out: it was evaluated at step ") {
				t.Errorf("%s: %q", c.name, note)
			}
		}
		if text := fmt.Sprintf("%.3g", task.Rows[0].Points[0]); c.step == 1500 && text != "9" {
			t.Errorf("%s: the return is %s", c.name, text)
		}
	}
}
