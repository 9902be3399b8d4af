package cost

import (
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

func TestALengthIsTheSumOfItsParts(t *testing.T) {
	c := config.Config{Steps: 10, StartSteps: 4, Buffer: 8, Evaluation: config.Evaluation{Every: 5}, Knobs: knob.Settings{RefitEvery: 3, GeneratorSteps: 7, Samples: 11}}
	c.Generator.Kind = "diffusion"
	for _, test := range []struct {
		name  string
		units Units
		step  int
		want  time.Duration
	}{
		{"the steps with updates", Units{Step: 1}, 0, 6 * time.Second},
		{"those that are left", Units{Step: 1}, 7, 3 * time.Second},
		{"nothing after the end", Units{Step: 1, Evaluation: 1}, 10, 0},
		{"evaluations", Units{Evaluation: 1}, 0, 2 * time.Second},
		{"generations", Units{Sample: 1}, 0, 33 * time.Second},
		{"fits", Units{Sample: 1, FitStep: 1}, 3, 36 * time.Second},
		{"scores of what there is by then, which the buffer bounds", Units{Sample: 1, Score: 1}, 0, (33 + 3 + 6 + 8) * time.Second},
		{"nothing of a refit that was never seen", Units{FitStep: 1, Score: 1}, 0, 0},
	} {
		if got := test.units.Rest(&c, &c.Knobs, test.step); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	c.Steps, c.StartSteps, c.Knobs.RefitEvery = 10, 1, 4 // steps 2 to 4 train on real rows alone
	for step, want := range map[int]time.Duration{0: 3*3 + 6, 2: 2*3 + 6, 4: 6, 9: 1} {
		if got := (Units{Step: 1, First: 3}).Rest(&c, &c.Knobs, step); got != want*time.Second {
			t.Errorf("after step %d it lasts %s, want %d s", step, got, want)
		}
	}
	c.Generator.Kind = config.GeneratorNone
	if got := (Units{Sample: 1}).Whole(&c); got != 0 {
		t.Errorf("without a generator: %s", got)
	}
}

// If the learner makes D_real again at each refit, the relevance model has missed all updates by
// then and makes up for as many as it may; each refit stores all rows again.
func TestRefitsThatMakeDRealAgain(t *testing.T) {
	c := config.Config{Steps: 10, StartSteps: 4, Buffer: 8, Knobs: knob.Settings{RefitEvery: 3, Samples: 1, Relevance: "curiosity"}}
	c.Generator.Kind, c.Agent.Learner, c.Pixels = "diffusion", "drqv2", agent.DefaultPixels
	icm := relevance.DefaultICM()
	for _, test := range []struct {
		cadence relevance.Cadence
		want    int
	}{{relevance.Cadence{Warmup: 2}, 2}, {relevance.Cadence{Warmup: 9}, 3}, {relevance.Cadence{Every: 3, Warmup: 9}, 1}} {
		icm.Cadence = test.cadence
		c.Relevance = relevance.Configs{"curiosity": icm}
		if got, want := (Units{Sample: 1, Warm: 1}).Whole(&c), time.Duration(3*(1+test.want))*time.Second; got != want {
			t.Errorf("%+v: %s, want %s", test.cadence, got, want)
		}
	}
	if got := Stored(&c, &c.Knobs); got != 3+6+8 {
		t.Errorf("%d rows are stored, want 17", got)
	}
	c.Agent.Learner = ""
	if got := Stored(&c, &c.Knobs); got != 10 {
		t.Errorf("%d rows of the environment are stored, want 10", got)
	}
}

// The rows of all coming refits are counted without going through them one by one.
func TestRowsOfRefits(t *testing.T) {
	c := config.Config{Environment: task.Environment{Copies: 2}}
	for _, c.Steps = range []int{1, 7, 24, 25, 60} {
		for _, c.Buffer = range []int{1, 9, 12, 31, 500} {
			for every := 2; every < 9; every++ {
				for step := range c.Steps + 1 {
					n, rows := 0, 0
					for i := step/every + 1; i*every < c.Steps; i++ {
						n, rows = n+1, rows+c.CollectedBy(i*every)
					}
					if gotN, got := refits(&c, &knob.Settings{RefitEvery: every}, step); gotN != n || got != rows {
						t.Fatalf("every %d of %d steps after %d, buffer %d: %d refits of %d rows, want %d of %d", every, c.Steps, step, c.Buffer, gotN, got, n, rows)
					}
				}
			}
		}
	}
	c.Steps, c.Buffer = config.MaxCount, config.MaxCount
	if n, rows := refits(&c, &knob.Settings{RefitEvery: 1}, 0); n != config.MaxCount/2 || rows != 249_999_999_500_000_000 { // one in each env step
		t.Errorf("%d refits of %d rows", n, rows)
	}
}

// A run whose D_real forgets writes of it what it holds at its checkpoints, and no more than all.
func TestWhatCheckpointsTake(t *testing.T) {
	c := config.Config{Steps: 100}
	c.Evaluation.KeepEvery = 50
	if n := Checkpoints(&c, 11*time.Minute); n != 3+2 {
		t.Errorf("%d checkpoints in 11 minutes, want 2 at intervals, 1 at the end, 2 that are kept", n)
	}
	d := Disk{Checkpoint: 1, Generation: 10, Real: 1000, Held: 300}
	for checkpoints, want := range map[int]int64{1: 311, 3: 933, 4: 1044, 9: 1044} {
		if got := d.After(checkpoints); got != want {
			t.Errorf("%d checkpoints take %d bytes, want %d", checkpoints, got, want)
		}
	}
	if d.Total() != d.After(checkpointsKept) {
		t.Errorf("in all %d, want %d", d.Total(), d.After(checkpointsKept))
	}
	d.Real = 1 << 40
	if want := int64(44 + 4*300 + run.PieceBytes); d.Total() != want || d.After(9) != want || d.After(4) != 44+4*300 {
		t.Errorf("of a run that forgets most, in all %d, after four checkpoints %d, after nine %d", d.Total(), d.After(4), d.After(9))
	}
}

// Jobs end no sooner than the longest, and than their sum divided by the processors.
func TestJobsTogether(t *testing.T) {
	for _, test := range []struct {
		processors float64
		jobs       []time.Duration
		want       time.Duration
	}{{2, nil, 0}, {2, []time.Duration{3, 5}, 5}, {2, []time.Duration{4, 4, 4}, 6}, {0.5, []time.Duration{3}, 6}} {
		if got := Together(test.processors, test.jobs...); got != test.want {
			t.Errorf("%v on %g: %d, want %d", test.jobs, test.processors, got, test.want)
		}
	}
}

// D_real has recorded rows at all refits, also at those after the first env step.
func TestRowsOfRefitsOnRecordedData(t *testing.T) {
	c := config.Config{Steps: 20, Buffer: 1000, Data: config.Data{Files: []string{"a"}, Rows: 500}}
	c.Generator.Kind = "diffusion"
	for step, want := range map[int]int{0: 500 + 505 + 510 + 515, 1: 505 + 510 + 515, 12: 515} {
		if _, rows := refits(&c, &knob.Settings{RefitEvery: 5}, step); rows != want {
			t.Errorf("after step %d: %d rows, want %d", step, rows, want)
		}
	}
}

// Refits are counted as they will be made: of rollouts, none before the first updates of the policy.
func TestRefitsOfRollouts(t *testing.T) {
	c := config.Config{Steps: 60, Buffer: 500}
	for _, c.Generator.Kind = range []string{"diffusion", "ensemble"} {
		for _, c.StartSteps = range []int{0, 3, 20, 23, 60, 99} {
			for _, every := range []int{1, 4, 7, 30} {
				for step := range c.Steps + 1 {
					n, rows, next := 0, 0, 0
					for at := step + 1; at < c.Steps; at++ {
						if !c.Refits(at, every) {
							continue
						}
						n, rows = n+1, rows+at
						if next == 0 {
							next = at
						}
					}
					gotN, got := refits(&c, &knob.Settings{RefitEvery: every}, step)
					if gotN != n || got != rows || next != 0 && c.NextRefit(step, every) != next {
						t.Fatalf("%s from %d, every %d, after %d: %d refits of %d rows, next at %d, want %d of %d, %d", c.Generator.Kind, c.StartSteps, every, step, gotN, got, c.NextRefit(step, every), n, rows, next)
					}
				}
			}
		}
	}
	c.Generator.Kind, c.StartSteps = "ensemble", 20
	if first := c.FirstRefit(7); first != 20 {
		t.Errorf("the first refit is at step %d", first)
	}
}
