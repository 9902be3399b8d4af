package report

import (
	"testing"

	"pgrlab/core/report/axes"
	"pgrlab/core/run"
)

// A method has one colour in all panels of a figure, whatever else there is in each.
func TestAMethodHasOneColourInAllPanels(t *testing.T) {
	root := t.TempDir()
	r, err := New([]*Run{journal(t, root, "a", "pgr", 0, []float64{1, 2}), journal(t, root, "a", "redq", 0, []float64{1, 2}),
		journal(t, root, "b", "redq", 0, []float64{1, 2})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := r.curves(quantity{Return, "return"}, false)
	of := func(p axes.Panel, label string) int {
		for _, m := range p.Marks {
			if m.Label != "" && m.Label[:len(label)] == label {
				return m.Color
			}
		}
		t.Fatalf("no mark of %s", label)
		return 0
	}
	if a, b := of(p[0], "redq"), of(p[1], "redq"); a != b || of(p[0], "pgr ") == a {
		t.Errorf("redq has colours %d and %d, pgr %d", a, b, of(p[0], "pgr "))
	}
	if p := r.final(); p[0].Marks[1].Color != p[1].Marks[0].Color {
		t.Errorf("of places it has colours %d and %d", p[0].Marks[1].Color, p[1].Marks[0].Color)
	}
}

// Values of F before and after a change of F, which have different units, are no one line.
func TestFigureDoesNotJoinTwoFunctions(t *testing.T) {
	s := func(step int, f string, v float64) run.Line {
		return run.Line{Type: "scores", Step: step, Member: run.NoMember, Body: map[string]any{"relevance": f, "quantiles": []float64{v, 2 * v, 3 * v}}}
	}
	r, err := New([]*Run{journal(t, t.TempDir(), "t", "pgr", 0, []float64{1, 2, 3, 4}, s(1000, "curiosity", 1), s(2000, "curiosity", 1), s(3000, "td", 100), s(4000, "td", 100))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, m := range r.relevance()[0].Marks {
		if m.Kind == axes.Thin {
			if lines++; len(m.X) != 2 {
				t.Errorf("a line of %d points, want 2", len(m.X))
			}
		}
	}
	if lines != 2 {
		t.Errorf("%d lines, want 2", lines)
	}
}
