package lab

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/knob"
)

// A trial of PPO holds iterations, though its rollouts are longer than other learners' trials, and
// rounds of episodic curiosity; so does one of a method with a generator.
func TestATrialOfPPOLearns(t *testing.T) {
	dev := testDevice(t)
	for name, c := range map[string]config.Config{"ppo": ppoConfig("rnd"), "ppo-eco": ppoConfig("eco"), "with a generator": ppoLatentConfig(), "pgr-eco": ppoRelevantConfig()} {
		task := mazeTask(t)
		c = sooner(c, task)
		l, err := New(context.Background(), c, task, dev, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		l.x.shorten()
		var u cost.Units
		if err := l.x.guarded(func() (err error) { u, _, err = l.x.measure(context.Background()); return err }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if eco := strings.HasSuffix(name, "eco"); l.x.meter.Seen(knob.Reach) != eco {
			t.Errorf("%s: rounds %t", name, !eco)
		}
		if !l.x.meter.Seen(knob.Learn) || u.Step <= 0 || c.Generates() && (u.FitStep <= 0 || u.Sample <= 0) {
			t.Errorf("%s: learned %t, %+v", name, l.x.meter.Seen(knob.Learn), u)
		}
	}
}
