package lab

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/knob"
)

// A trial of a real run finds what each of its parts takes, and says the same of the
// disk as the run itself.
func TestATrialMeasuresEveryPart(t *testing.T) {
	dev, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := realConfig()
	f, err := Try(context.Background(), c, newWorld().task(), dev)
	if err != nil {
		t.Fatal(err)
	}
	u := f.Costs
	for name, cost := range map[string]float64{"step": u.Step, "score": u.Score, "fit": u.FitStep, "sample": u.Sample, "evaluation": u.Evaluation} {
		if !(cost > 0 && cost < 60) {
			t.Errorf("%s: %g s", name, cost)
		}
	}
	if f.Disk.Checkpoint < 1 || f.Disk.Generation < 1 || f.Disk.Real < 1 {
		t.Errorf("disk %+v", f.Disk)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Try(stopped, c, newWorld().task(), dev); !errors.Is(err, errInterrupt) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestALengthIsTheSumOfItsParts(t *testing.T) {
	c := config.Config{Steps: 10, StartSteps: 4, Buffer: 8, Evaluation: config.Evaluation{Every: 5}, Knobs: knob.Settings{RefitEvery: 3, GeneratorSteps: 7, Samples: 11}}
	c.Generator.Kind = "diffusion"
	for _, test := range []struct {
		name  string
		costs config.Costs
		step  int
		want  time.Duration
	}{
		{"the steps with updates", config.Costs{Step: 1}, 0, 6 * time.Second},
		{"those that are left", config.Costs{Step: 1}, 7, 3 * time.Second},
		{"nothing behind the end", config.Costs{Step: 1, Evaluation: 1}, 10, 0},
		{"evaluations", config.Costs{Evaluation: 1}, 0, 2 * time.Second},
		{"generations", config.Costs{Sample: 1}, 0, 33 * time.Second},
		{"fits", config.Costs{Sample: 1, FitStep: 1}, 3, 36 * time.Second},
		{"scores of what there is by then, which the buffer bounds", config.Costs{Sample: 1, Score: 1}, 0, (33 + 3 + 6 + 8) * time.Second},
		{"nothing of a refit that nobody has seen", config.Costs{FitStep: 1, Score: 1}, 0, 0},
	} {
		if got := c.LastsFrom(&c.Knobs, test.step, test.costs); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	c.Generator.Kind = config.GeneratorNone
	if got := c.Lasts(config.Costs{Sample: 1}); got != 0 {
		t.Errorf("without a generator: %s", got)
	}
}
