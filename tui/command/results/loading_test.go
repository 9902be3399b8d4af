package results

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/remote"
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

// A run below a folder that cannot be read is left out, with the reason. One that was named itself is an
// error, and so is a folder in which no run can be read.
func TestARunThatCannotBeRead(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "demo"})
	above := t.TempDir()
	dirs := map[string]string{}
	for name, damaged := range map[string]string{"journal": run.JournalName, "settings": run.ConfigName, "whole": ""} {
		dirs[name] = filepath.Join(above, name)
		if err := os.CopyFS(dirs[name], os.DirFS(folder(t, c, 1000))); err != nil {
			t.Fatal(err)
		}
		if damaged == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dirs[name], damaged), []byte("[\n[\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, notes, err := LoadRuns([]string{above})
	if err != nil || len(runs) != 1 || runs[0].Dir != dirs["whole"] || len(notes) != 2 ||
		!strings.HasPrefix(notes[0], dirs["journal"]+" is left out: journal line 1: ") || !strings.HasPrefix(notes[1], dirs["settings"]+" is left out: ") {
		t.Errorf("%d runs, notes %q, %v", len(runs), notes, err)
	}
	for _, name := range []string{"journal", "settings"} {
		if _, _, err := LoadRuns([]string{above, dirs[name]}); err == nil || !strings.Contains(err.Error(), dirs[name]) {
			t.Errorf("%s, named itself: %v", name, err)
		}
	}
	if err := os.RemoveAll(dirs["whole"]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadRuns([]string{above}); err == nil || !strings.Contains(err.Error(), dirs["journal"]) {
		t.Errorf("no run can be read: %v", err)
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

// Runs of another length than their scale's are other runs if something in them follows the length,
// and only then; their fingerprints say nothing of it.
func TestRunsOfAnotherLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	for method, want := range map[string]string{"per-td": "steps=10000", "sac": ""} {
		c := resolve(t, presets.Choice{Task: "cheetah-run", Method: method, Scale: "short"})
		whole, err := LoadRun(folder(t, c, c.Steps))
		if err != nil {
			t.Fatal(err)
		}
		c.Steps = 10_000
		short, err := LoadRun(folder(t, c, c.Steps))
		if err != nil {
			t.Fatal(err)
		}
		if whole.Variant != "" || short.Variant != want || whole.Fingerprint != short.Fingerprint {
			t.Errorf("%s: %q and %q, fingerprints %s and %s", method, whole.Variant, short.Variant, whole.Fingerprint, short.Fingerprint)
		}
		if _, err := report.AddResults(path, []*report.Run{whole, short}); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := LoadRuns([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	cells, _ := report.Cells(all, nil)
	var labels []string
	for _, c := range cells {
		labels = append(labels, c.Label())
	}
	if want := []string{"per-td", "per-td, steps=10000", "sac"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}

// A precision that was asked for is a setting. The usual one is not, so that the fingerprints of
// results of CPUs, and of GPUs with it, stay the same.
func TestPrecisionIsASetting(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "short"})
	prints := map[string]string{}
	for precision, want := range map[string]string{"": "", presets.UsualPrecision: "", "bf16": "precision=bf16", "fp32": "precision=fp32"} {
		c.Precision = precision
		r, err := LoadRun(folder(t, c, c.Steps))
		if err != nil {
			t.Fatal(err)
		}
		if r.Variant != want {
			t.Errorf("precision %q: variant %q, want %q", precision, r.Variant, want)
		}
		prints[precision] = r.Fingerprint
	}
	if prints[""] != prints[presets.UsualPrecision] || prints[""] == prints["bf16"] || prints["bf16"] == prints["fp32"] {
		t.Errorf("fingerprints %v", prints)
	}
}

// The settings of the results that a study has kept have the same fingerprints as ever, so that its
// sweep goes on with them.
func TestFingerprintsStay(t *testing.T) {
	for file, want := range map[string]struct {
		scale string
		least int
	}{"study-bounded.csv": {"short", 50}, "pixels.csv": {"demo", 6}} {
		kept, err := report.ReadResults(filepath.Join("..", "..", "..", "docs", "evidence", file))
		if err != nil {
			t.Fatal(err)
		}
		plain := 0
		for _, r := range kept {
			c := resolve(t, presets.Choice{Task: r.Task, Method: r.Method, Scale: r.Scale})
			if r.Variant != "" || r.Scale != want.scale || c.Generator.Conditional {
				continue // settings beside those of its choice, or of a scale that has been changed: guidance was
			}
			plain++
			key, err := ResultKey(c)
			if key.Seed = r.Seed; err != nil || key != r.Key() {
				t.Fatalf("%s: %+v, %v, want %+v", file, key, err, r.Key())
			}
		}
		if plain < want.least {
			t.Errorf("%s: %d results have the settings of their choices, want at least %d", file, plain, want.least)
		}
	}
}

// A run that went on with another device is listed, and kept, with both.
func TestARunThatWasMoved(t *testing.T) {
	dir := folder(t, resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "short"}), 20_000)
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, device := range []string{"cpu go", "cpu other", "cpu other"} {
		step := 1000 * (i + 1)
		if _, _, err := f.WriteCheckpoint(&run.Checkpoint{Header: run.Header{Config: f.Config(), Journal: f.Mark(), Device: device, Step: step, Position: strconv.Itoa(step)}}); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	r, err := LoadRun(dir)
	if err != nil || r.Devices() != "cpu go, then cpu other" {
		t.Fatalf("%q, %v", r.Devices(), err)
	}
	path := filepath.Join(t.TempDir(), "r.csv")
	if _, err := report.AddResults(path, []*report.Run{r}); err != nil {
		t.Fatal(err)
	}
	if kept, err := report.ReadResults(path); err != nil || kept[0].Device != r.Devices() {
		t.Errorf("%v", err)
	}
}

// Of a run that trains on another machine the report says where, and not that it can be resumed.
func TestARunThatTrainsElsewhere(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "sac", Scale: "short"})
	dir := folder(t, c, 1000)
	journal, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(journal), "\n"), "\n")
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(strings.Join(lines[:len(lines)-1], "")), 0o600); err != nil { // without its end
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, remote.NoticeName), []byte(`{"pid":7,"host":"node7.example","socket":"/tmp/7-1.sock"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := LoadRun(dir)
	if err != nil || !strings.HasPrefix(r.Standing, " of 20,000, goes on at node7.example: pgrlab attach ") {
		t.Errorf("%q, %v", r.Standing, err)
	}
}
