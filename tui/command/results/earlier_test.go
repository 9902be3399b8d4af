package results

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/history"
)

// thirty is the digest of the settings of thirty runs of pgr-curiosity on cheetah-run in
// docs/evidence/study-bounded.csv.
const thirty = "cef11e482a54"

// digest is that of a configuration as results files have it.
func digest(t *testing.T, c config.Config) string {
	t.Helper()
	settings, err := presets.Settings(c)
	if err != nil {
		t.Fatal(err)
	}
	return fingerprint(settings)
}

// beginIn makes the folder of all runs with a run of c, and returns that of the run.
func beginIn(t *testing.T, c config.Config) string {
	t.Helper()
	dir := folder(t, c, 20_000)
	t.Setenv(cli.RunsVariable, filepath.Dir(dir))
	return dir
}

// A run whose settings are those of thirty recorded ones has their quantiles behind it: those of
// numpy.quantile(x, [.1, .5, .9]) (NumPy 1.24.2) over the thirty returns at a step.
func TestQuantilesOfThirtyRecordedRuns(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "short"})
	recorded, err := os.ReadFile("../../../docs/evidence/study-bounded.csv")
	if err != nil {
		t.Fatal(err)
	}
	c.Seed = 1000 // none of theirs
	dir := beginIn(t, c)
	now := strings.ReplaceAll(string(recorded), thirty, digest(t, c)) // as if the presets had not moved on
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "study.csv"), []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
	g := history.NewGhost(Earlier(dir, c))
	for _, want := range []struct {
		step              int
		low, median, high float64
		under             int // numpy.sum(x < 100)
	}{
		{1000, 0.5642037, 5.077415, 24.34823, 30},
		{2000, 1.587142, 11.86125, 41.781240000000004, 30},
		{5000, 11.752102, 43.5955, 65.21566, 29},
		{10000, 58.38941, 125.0645, 248.9131, 11},
		{15000, 162.0181, 299.258, 417.0989, 1},
		{20000, 220.2889, 385.487, 497.43, 0},
	} {
		b, ok := g.At(want.step)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
		if !ok || b.N != 30 || !near(b.Low, want.low) || !near(b.Median, want.median) || !near(b.High, want.high) || b.Under(100) != want.under {
			t.Errorf("at %d: %+v, %d under 100, want %+v", want.step, b, b.Under(100), want)
		}
	}
}

// Only runs of the same settings are other runs of this kind: one changed key of config.toml, another
// task, method or scale, and there is none. What only says how a run is judged is no such key.
func TestOneChangedKeyLeavesNoGhost(t *testing.T) {
	choice := presets.Choice{Task: "cartpole-swingup", Method: "pgr-curiosity", Scale: "demo"}
	c := resolve(t, choice)
	dir := beginIn(t, c)
	other := func(name string, c config.Config) {
		t.Helper()
		if err := os.Rename(folder(t, c, 1000), filepath.Join(filepath.Dir(dir), name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(*config.Config){
		"buffer":   func(c *config.Config) { c.Buffer++ },
		"omega":    func(c *config.Config) { c.Knobs.Guidance++ },
		"utd":      func(c *config.Config) { c.Knobs.UTD++ },
		"refits":   func(c *config.Config) { c.Knobs.RefitEvery++ },
		"random":   func(c *config.Config) { c.StartSteps++ },
		"episodes": func(c *config.Config) { c.Evaluation.Episodes++ },
	} {
		changed := c
		changed.Seed = 7
		change(&changed)
		other(name, changed)
	}
	for name, of := range map[string]presets.Choice{
		"task":   {Task: "reacher-easy", Method: choice.Method, Scale: choice.Scale},
		"method": {Task: choice.Task, Method: "synther", Scale: choice.Scale},
		"scale":  {Task: choice.Task, Method: choice.Method, Scale: "short"},
	} {
		other(name, resolve(t, of))
	}
	if all := Earlier(dir, c); len(all) != 0 {
		t.Errorf("%d runs of other settings count: %+v", len(all), all)
	}
	same := c
	same.Seed, same.Evaluation.Every, same.Steps = 5, c.Evaluation.Every/2, 1000
	other("same", same)
	other("again", same)
	if all := Earlier(dir, c); len(all) != 1 || all[0].Seed != 5 || !slices.Equal(all[0].Steps, []int{1000}) || all[0].Returns[0] != 5 {
		t.Errorf("a run of the same settings, twice: %+v", all)
	}
}

// A run that was changed by hand, or is a fork, is no run of its settings; one that diverged is.
func TestWhichRunsCount(t *testing.T) {
	c := resolve(t, presets.Choice{Task: "cartpole-swingup", Method: "sac", Scale: "demo"})
	dir := beginIn(t, c)
	for seed, l := range []run.Line{
		{Type: "knob", Step: 500, Member: run.NoMember, Body: map[string]any{"id": 1, "knob": "utd", "position": "500", "from": 1, "to": 2, "class": "batch"}},
		{Type: "note", Step: 500, Member: run.NoMember, Body: map[string]any{"text": "forked at 500"}},
		{Type: "diverged", Step: 1200, Member: run.NoMember, Body: map[string]any{"doing": "agent", "program": "update", "error": "loss is NaN"}},
	} {
		one := c
		one.Seed = uint64(10 + seed)
		made := folder(t, one, 1000)
		f, err := os.OpenFile(filepath.Join(made, run.JournalName), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []run.Line{l, {Type: "failed", Step: 1200, Member: run.NoMember, Body: map[string]any{"error": "step 1200: loss is NaN"}}} {
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			f.Write(append(text, '\n'))
		}
		f.Close()
		if err := os.Rename(made, filepath.Join(filepath.Dir(dir), l.Type)); err != nil {
			t.Fatal(err)
		}
	}
	if all := Earlier(dir, c); len(all) != 1 || all[0].Seed != 12 || all[0].Diverged != 1200 {
		t.Errorf("%+v, want the run that diverged", all)
	}
}
