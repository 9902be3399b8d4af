package lab

import (
	"context"
	"errors"
	"testing"

	"pgrlab/core/testing/tiny"
)

// A trial of a real run measures each of its parts, and its disk estimate is that of the run
// itself.
func TestATrialMeasuresEveryPart(t *testing.T) {
	dev := testDevice(t)
	c := realConfig()
	f, err := Try(context.Background(), c, newWorld().task(), dev)
	if err != nil {
		t.Fatal(err)
	}
	u := f.Units
	for name, cost := range map[string]float64{"step": u.Step, "score": u.Score, "fit": u.FitStep, "sample": u.Sample, "evaluation": u.Evaluation} {
		if !(cost > 0 && cost < 60) {
			t.Errorf("%s: %g s", name, cost)
		}
	}
	two := variant("max")
	two.Evaluation.Every = 13
	if pair, err := Try(context.Background(), two, newWorld().task(), dev); err != nil || !(pair.Step > 0 && pair.Score > 0 && pair.FitStep > 0 && pair.Sample > 0) {
		t.Errorf("of two agents: %+v, %v", pair.Units, err)
	}
	latent, err := Try(context.Background(), tiny.Latents(), tiny.Task(), dev)
	if u := latent.Units; err != nil || !(u.Score > 0 && u.Score < 60) || !(u.Warm > 0 && u.Warm < 60) || !(u.Step > 0 && u.FitStep > 0 && u.Sample > 0) {
		t.Errorf("of latents: %+v, %v", u, err)
	}
	if f.Disk.Checkpoint < 1 || f.Disk.Generation < 1 || f.Disk.Real < 1 {
		t.Errorf("disk %+v", f.Disk)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Try(stopped, c, newWorld().task(), dev); !errors.Is(err, errInterrupt) && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
