package results

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
)

// folder makes a run folder with that configuration and returns its path. The journal has a start,
// an evaluation at the last step, and a line that says that the run has ended there; lasting 0 leaves
// it empty.
func folder(t *testing.T, c config.Config, lasting int) string {
	t.Helper()
	doc, err := presets.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	f, err := run.Create(dir, doc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if lasting == 0 {
		return dir
	}
	for _, l := range []run.Line{
		{Type: "start", Member: run.NoMember, Body: map[string]any{"task": c.Task, "method": c.Method, "scale": c.Scale, "seed": c.Seed, "device": "cpu go"}},
		{Type: "evaluated", Step: lasting, Member: run.NoMember, Body: map[string]any{"return_mean": 5, "return_std": 1, "episodes": 1}},
		{Type: "done", Step: lasting, Member: run.NoMember, Body: map[string]any{"steps": lasting}},
	} {
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// resolve is the configuration of a choice.
func resolve(t *testing.T, of presets.Choice) config.Config {
	t.Helper()
	c, err := presets.Resolve(of)
	if err != nil {
		t.Fatal(err)
	}
	c.Device = "cpu"
	return c
}

// A run that has not written a line yet is left out beside others. Alone it is an error.
func TestARunThatHasNotBegun(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "demo"})
	begun, idle := folder(t, c, 1000), folder(t, c, 0)
	runs, notes, err := LoadRuns([]string{idle, begun})
	if err != nil || len(runs) != 1 || runs[0].Dir != begun || len(notes) != 1 || !strings.HasPrefix(notes[0], idle+" is left out: its journal is empty") {
		t.Errorf("%d runs, notes %q, %v", len(runs), notes, err)
	}
	if _, _, err := LoadRuns([]string{idle}); !errors.Is(err, report.ErrNotBegun) || !strings.HasPrefix(err.Error(), idle+":") {
		t.Errorf("alone: %v", err)
	}
}

// A run that was stopped by hand is no result, and the report says how far it got.
func TestARunThatWasStopped(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "short"})
	for lasting, want := range map[int]string{c.Steps / 2: "stopped at step 10,000 of 20,000", c.Steps: ""} {
		r, err := LoadRun(folder(t, c, lasting))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.IsResult(); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("after %d steps: %v, want %q", lasting, err, want)
		}
		all, err := report.New([]*report.Run{r}, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := all.Markdown(&text); err != nil || strings.Contains(text.String(), "| 10,000 of 20,000, stopped |") != (want != "") {
			t.Errorf("after %d steps: %v\n%s", lasting, err, text.String())
		}
	}
}
