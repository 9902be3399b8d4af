package presets

import (
	"testing"

	"pgrlab/core/agent/drqv2"
)

// At scale paper DrQ-v2 has its own numbers, with those of the task (facebookresearch/drqv2:
// cfgs/config.yaml and cfgs/task). A smaller scale has its own batch and noise on every task, and
// keeps the task's n.
func TestDrQv2OfTasks(t *testing.T) {
	for _, c := range []struct {
		task, scale              string
		nStep, noiseSteps, batch int
	}{
		{"cheetah-run", "paper", 3, 500_000, 256},
		{"cartpole-swingup", "paper", 3, 100_000, 256},
		{"walker-walk", "paper", 1, 100_000, 512},
		{"walker-run", "paper", 1, 500_000, 512},
		{"walker-walk", "release", 1, 100_000, 512},
		{"walker-walk", "short", 1, 40_000, 128},
		{"cartpole-balance", "demo", 3, 10_000, 128},
		{"cheetah-run", "demo", 3, 10_000, 128},
		{"walker-walk", "demo", 1, 10_000, 128},
	} {
		r, err := Resolve(Choice{Task: c.task, Method: "drqv2", Scale: c.scale})
		if err != nil {
			t.Fatal(err)
		}
		own := r.Agent.Own["drqv2"].(drqv2.Settings)
		if own.NStep != c.nStep || own.NoiseSteps != c.noiseSteps || r.Knobs.Batch != c.batch {
			t.Errorf("%s at scale %s: n %d, noise over %d steps, batch %d; want %d, %d, %d", c.task, c.scale, own.NStep, own.NoiseSteps, r.Knobs.Batch, c.nStep, c.noiseSteps, c.batch)
		}
		if paper := c.scale == "paper"; paper && (r.Knobs.LRActor != drqv2.DefaultRates.LRActor || r.Knobs.LRCritic != drqv2.DefaultRates.LRCritic || r.Knobs.Tau != drqv2.DefaultRates.Tau || r.Pixels.Side != 84 || r.StartSteps != 1_999 || r.Environment.ActionRepeat != 2 || r.Agent.Hidden[0] != 1024) {
			t.Errorf("%s at scale paper: %+v", c.task, r)
		}
	}
	sac, err := Resolve(Choice{Task: "walker-walk", Method: "sac", Scale: "paper"})
	if err != nil {
		t.Fatal(err)
	}
	if sac.Knobs.Batch != 256 || sac.Environment.ActionRepeat != 1 {
		t.Errorf("SAC has DrQ-v2's batch of %d, repeat %d", sac.Knobs.Batch, sac.Environment.ActionRepeat)
	}
}

// A cost on saturated actions is that of the scale: DrQ-v2's own, none, where its settings are those of
// its authors, and one in proportion to values at small scales.
func TestCostOfSaturatedActions(t *testing.T) {
	for scale, want := range map[string]float64{"short": 0.002, "cpu": 0.002, "release": 0, "paper": 0} {
		for _, task := range []string{"walker-stand", "cheetah-run", "cartpole-swingup"} {
			r, err := Resolve(Choice{Task: task, Method: "drqv2", Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			if own := r.Agent.Own["drqv2"].(drqv2.Settings); own.PreactivationOfQ != want || own.Preactivation != 0 {
				t.Errorf("%s at scale %s: costs %g and %g, want 0 and %g", task, scale, own.Preactivation, own.PreactivationOfQ, want)
			}
		}
	}
}

// At scale demo tasks from pixels have PlaNet's repeats, and only the cartpole tasks, with which that
// scale was measured, have a fixed cost on saturated actions: it would hold the policy of tasks with
// small values at 0. Runs from states have neither.
func TestDemoFromPixelsOfTasks(t *testing.T) {
	for _, c := range []struct {
		task, method    string
		repeat          int
		fixed, ofValues float64
	}{
		{"cartpole-swingup", "drqv2", 8, 0.1, 0},
		{"cartpole-balance", "pgr-rnd", 8, 0.1, 0},
		{"cheetah-run", "drqv2", 4, 0, 0.002},
		{"reacher-easy", "drqv2", 4, 0, 0.002},
		{"reacher-hard", "synther", 4, 0, 0.002},
		{"ball-in-cup-catch", "drqv2", 4, 0, 0.002},
		{"walker-walk", "drqv2", 2, 0, 0.002},
		{"finger-spin", "drqv2", 2, 0, 0.002},
		{"quadruped-walk", "drqv2", 2, 0, 0.002},
	} {
		r, err := Resolve(Choice{Task: c.task, Method: c.method, Scale: "demo", Observation: "pixels"})
		if err != nil {
			t.Fatal(err)
		}
		own := r.Agent.Own["drqv2"].(drqv2.Settings)
		if r.Environment.ActionRepeat != c.repeat || own.Preactivation != c.fixed || own.PreactivationOfQ != c.ofValues || r.Steps != 12_500 || own.NoiseSteps != 10_000 {
			t.Errorf("%s of %s: repeat %d, costs %g and %g, want %+v", c.method, c.task, r.Environment.ActionRepeat, own.Preactivation, own.PreactivationOfQ, c)
		}
		states, err := Resolve(Choice{Task: c.task, Method: "synther", Scale: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		if own := states.Agent.Own["drqv2"].(drqv2.Settings); states.Environment.ActionRepeat != 1 || own.Preactivation != 0 || own.PreactivationOfQ != 0 {
			t.Errorf("from states %s has repeat %d, costs %+v", c.task, states.Environment.ActionRepeat, own)
		}
	}
}
