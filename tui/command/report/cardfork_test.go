package report

import (
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
)

// The card of a fork has the commands that make it again: its parent up to there with what was changed by
// hand before, the fork with its changes and seed, and what follows.
func TestTheCardOfAForkMakesItAgain(t *testing.T) {
	for method, parent := range map[string]string{
		"pgr-curiosity": "pgrlab train --preset demo --task cartpole-swingup --method pgr-curiosity --scale demo --seed 3 --device cpu --steps 2000 --at '500:ratio=0.75' --out first-again",
		"per-td":        "pgrlab train --preset demo --task cartpole-swingup --method per-td --scale demo --seed 3 --device cpu --steps 5000 --set evaluation.keep_every=2000 --at '500:ratio=0.75' --out first-again",
	} {
		c, err := presets.Resolve(presets.Choice{Preset: "demo", Task: "cartpole-swingup", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		c.Seed, c.Steps, c.Device = 8, 5000, "cpu"
		doc, err := presets.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := run.Create(filepath.Join(t.TempDir(), "first-fork"), doc)
		if err != nil {
			t.Fatal(err)
		}
		line := func(kind string, step int, body map[string]any) {
			if err := folder.Append(run.Line{Type: kind, Step: step, Member: run.NoMember, Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		knob := func(step int, by string, to float64, name string) {
			line("knob", step, map[string]any{"id": 1, "knob": name, "from": 2, "to": to, "position": map[int]string{500: "500", 2000: "2000"}[step], "now": by != "", "obs": map[string]any{"by": by}})
		}
		line("start", 0, map[string]any{"task": c.Task, "method": c.Method, "scale": c.Scale, "seed": 3, "device": "cpu", "obs": map[string]any{}})
		knob(500, "", 0.75, "ratio")
		line("note", 2000, map[string]any{"text": "forked at 2000", "obs": map[string]any{"by": "runs/first/checkpoints/2000.ckpt"}})
		knob(2000, "schedule", 3, "guidance")
		folder.Close()
		r, err := report.Load(folder.Dir())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		repeatFork(&b, r, c)
		for _, want := range []string{parent + "\n", "pgrlab fork first-again@2000 --set 'guidance=3!' --steps 5000 --seed 8 --out first-fork-again\n", "pgrlab train --resume first-fork-again\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", method, want, b.String())
			}
		}
	}
}
