package presets

import (
	"strings"
	"testing"
)

// On a task whose agent chooses among actions, the methods that declare PPO as their learner get
// it, with a generator of its latents. Other methods are unchanged there, and all methods are
// unchanged on other tasks.
func TestMethodsWhereAnAgentChooses(t *testing.T) {
	for _, c := range []struct{ task, method, learner, vector string }{
		{"maze-sparse", "pgr-rnd", "ppo", "transition"},
		{"maze-very-sparse", "pgr-curiosity", "ppo", "transition"},
		{"maze-sparse", "synther", "ppo", "transition"},
		{"maze-sparse", "ppo", "ppo", "pair"},
		{"maze-sparse", "pgr-eco", "ppo", "transition"},
		{"maze-sparse", "pgr-reward", "sac", "pair"},
		{"cheetah-run", "pgr-rnd", "sac", "pair"},
	} {
		for _, scale := range []string{"demo", "short"} {
			got, err := Resolve(Choice{Task: c.task, Method: c.method, Scale: scale})
			if err != nil || got.Agent.Learner != c.learner || got.Generator.Vector != c.vector {
				t.Errorf("%s on %s at %s: learner %s, vector %s, %v", c.method, c.task, scale, got.Agent.Learner, got.Generator.Vector, err)
			}
		}
	}
	for _, scale := range scaleNames {
		for _, method := range []string{"pgr-rnd", "pgr-eco"} {
			got, err := Resolve(Choice{Task: "maze-sparse", Method: method, Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Validate(); err != nil {
				t.Errorf("%s, scale %s: %v", method, scale, err)
			}
			rounds := got.Knobs.RefitEvery % 256
			if share := float64(got.Knobs.RefitEvery) / float64(got.Steps); rounds != 0 || share < 0.049 || share > 0.052 {
				t.Errorf("%s, scale %s: a refit every %d of %d env steps", method, scale, got.Knobs.RefitEvery, got.Steps)
			}
		}
	}
}

// Chosen says what was chosen for the methods that are reconstructions, in mazes and of MAX, and nothing
// for others.
func TestWhatWasChosen(t *testing.T) {
	for _, m := range Methods() {
		chosen, want := Chosen(m.Name), ""
		if family(m.Name) == "max" {
			want = "The paper"
		}
		switch c, err := Resolve(Choice{Task: "maze-sparse", Method: m.Name, Scale: "demo"}); {
		case err != nil:
			continue // not for mazes
		case c.Agent.Learner == "ppo" && c.Generates():
			want = "D_real is"
		}
		if !strings.HasPrefix(chosen, want) || (chosen == "") != (want == "") {
			t.Errorf("%s: chosen is %q, want %q", m.Name, chosen, want)
		}
	}
}
