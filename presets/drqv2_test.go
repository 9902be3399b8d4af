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
