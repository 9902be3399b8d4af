package report

import (
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
)

// What the card says about running the model fits what the model takes and gives.
func TestHowTheModelOfACardIsRun(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		`["action_env"], {seen.name: np.zeros([1] + seen.shape[1:], np.float32)`: func(*config.Config) {},
		"np.uint8": func(c *config.Config) { c.Agent.Learner, c.Environment.Observation = "drqv2", "pixels" },
		"Each action is repeated for 4 control steps.": func(c *config.Config) { c.Environment.ActionRepeat = 4 },
		"drew its actions from the softmax": func(c *config.Config) {
			c.Agent.Learner, c.Evaluation.Actions = "ppo", config.ActionsSample
		},
		`run(["action"]`: func(c *config.Config) { c.Agent.Learner = "ppo" },
	} {
		var p page
		change(&p.config)
		if got := p.usage(); !strings.Contains(got, want) || !strings.HasSuffix(got, "\n\n") {
			t.Errorf("%s lacks %q", got, want)
		}
	}
}

// The result on a card is the last one of the member, and a run without a finite one has no card for the hub.
func TestTheLastEvaluationOfAMember(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cohort")
	f, err := run.Create(dir, []byte("task = 't'\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := []run.Line{{Type: "start", Member: run.NoMember, Body: map[string]any{"task": "t", "method": "m", "scale": "s", "seed": 3, "members": 3, "device": "cpu", "obs": map[string]any{"time": "2026-03-01T12:00:00Z"}}}}
	for i, mean := range []float64{1, 2, 3, 4} {
		lines = append(lines, run.Line{Type: "evaluated", Step: 100 * (1 + i/2), Member: i % 2, WallS: 60, Body: map[string]any{"return_mean": mean, "return_std": 0.5, "episodes": 7}})
	}
	lines = append(lines, run.Line{Type: "evaluated", Step: 300, Member: 2, Body: map[string]any{"return_mean": "NaN", "return_std": 0.5, "episodes": 7}})
	for _, l := range lines {
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	r, err := report.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{Run: r}
	for member, want := range []evaluation{{Mean: 3}, {Mean: 4}} {
		want.Std, want.Episodes, want.Deterministic, want.At, want.step = 0.5, 7, true, "2026-03-01T12:01:00", 200
		if got, err := p.lastEvaluation(member); err != nil || *got != want {
			t.Errorf("member %d: %+v, %v; want %+v", member, got, err, want)
		}
	}
	if _, err := p.lastEvaluation(2); err == nil || !strings.Contains(err.Error(), "no evaluation whose return is a finite number") {
		t.Errorf("%v", err)
	}
}

// Names of tasks have colons, quotes and spaces; in the metadata they stay what they are.
func TestTextsInMetadata(t *testing.T) {
	if got := quoted(`env:python3 "a b" <c>`); got != `"env:python3 \"a b\" <c>"` {
		t.Error(got)
	}
}
