package picker

import (
	"strings"
	"testing"

	"pgrlab/presets"
)

// A run's steps and updates are said as its learner counts them, and no number that it does not use.
func TestWork(t *testing.T) {
	for want, c := range map[string]presets.Choice{
		"30,000 env steps, 8 updates a step, batch 128":                            {Preset: "demo"},
		"960,000 steps, 60,000 in each of 16 copies, 16 updates every 4,096 steps": {Task: "maze-sparse", Method: "ppo", Scale: "demo"},
	} {
		config, err := presets.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := work(&config); got != want {
			t.Errorf("%s on %s: %q, want %q", config.Method, config.Task, got, want)
		}
	}
	one, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	if one.Knobs.UTD = 1; !strings.Contains(work(&one), ", 1 update a step,") {
		t.Errorf("with one update: %q", work(&one))
	}
	frames, err := presets.Resolve(presets.Choice{Task: "maze-sparse", Method: "ppo", Scale: "demo", Observation: "pixels"})
	if err != nil {
		t.Fatal(err)
	}
	if got := work(&frames); !strings.HasSuffix(got, " in each of 16 copies, frames of 42×42") {
		t.Errorf("from frames: %q", got)
	}
}
