package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// What generators made is a table of its own: by seed the mean over the generations
// until the report's step, what is not a number left out, other methods without a line.
func TestGeneratedTable(t *testing.T) {
	root := t.TempDir()
	line := func(step int, change any, coverage float64) run.Line {
		return run.Line{Type: "generated", Step: step, Member: run.NoMember, Body: map[string]any{
			"coverage": coverage, "dynamics": map[string]any{"change": change, "reward_relative": 4.5}}}
	}
	var runs []*Run
	for seed := range 5 {
		runs = append(runs,
			journal(t, root, "t", "pgr", seed, []float64{1, 2}, line(1000, 0.2, 0.6), line(2000, 0.4, 0.8), line(9000, 100, 0)),
			journal(t, root, "t", "sac", seed, []float64{1, 2}))
	}
	runs = append(runs, journal(t, root, "t", "synther", 0, []float64{1, 2}, line(1000, "NaN", 0.6), line(2000, 0.4, 0.5)))
	r, err := New(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text, data bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| pgr | – | – | 0.300 ± 0.000 (n=5) | 4.50 ± 0.00 (n=5) | 0.700 ± 0.000 (n=5) | – |",
		"| synther | – | – | 0.4 (n=1) | 4.5 (n=1) | 0.55 (n=1) | – |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("lacks %s:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "| sac | –") {
		t.Errorf("a method that generates nothing:\n%s", text.String())
	}
	if err := json.NewEncoder(&data).Encode(r); err != nil || !strings.Contains(data.String(), `{"name":"of r","n":5,"points":[4.5,4.5,4.5,4.5,4.5],"mean":4.5,"std":0}`) {
		t.Errorf("%v\n%s", err, data.String())
	}
}
