package config

import (
	"strings"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
)

func TestALengthIsTheSumOfItsParts(t *testing.T) {
	c := Config{Steps: 10, StartSteps: 4, Buffer: 8, Evaluation: Evaluation{Every: 5}, Knobs: knob.Settings{RefitEvery: 3, GeneratorSteps: 7, Samples: 11}}
	c.Generator.Kind = "diffusion"
	for _, test := range []struct {
		name  string
		costs Costs
		step  int
		want  time.Duration
	}{
		{"the steps with updates", Costs{Step: 1}, 0, 6 * time.Second},
		{"those that are left", Costs{Step: 1}, 7, 3 * time.Second},
		{"nothing behind the end", Costs{Step: 1, Evaluation: 1}, 10, 0},
		{"evaluations", Costs{Evaluation: 1}, 0, 2 * time.Second},
		{"generations", Costs{Sample: 1}, 0, 33 * time.Second},
		{"fits", Costs{Sample: 1, FitStep: 1}, 3, 36 * time.Second},
		{"scores of what there is by then, which the buffer bounds", Costs{Sample: 1, Score: 1}, 0, (33 + 3 + 6 + 8) * time.Second},
		{"nothing of a refit that nobody has seen", Costs{FitStep: 1, Score: 1}, 0, 0},
	} {
		if got := c.LastsFrom(&c.Knobs, test.step, test.costs); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	c.Steps, c.StartSteps, c.Knobs.RefitEvery = 10, 1, 4 // steps 2 to 4 train on real rows alone
	for step, want := range map[int]time.Duration{0: 3*3 + 6, 2: 2*3 + 6, 4: 6, 9: 1} {
		if got := c.LastsFrom(&c.Knobs, step, Costs{Step: 1, First: 3}); got != want*time.Second {
			t.Errorf("behind step %d it lasts %s, want %d s", step, got, want)
		}
	}
	c.Generator.Kind = GeneratorNone
	if got := c.Lasts(Costs{Sample: 1}); got != 0 {
		t.Errorf("without a generator: %s", got)
	}
}

// If the learner makes D_real anew at each refit, the relevance model has missed all updates by
// then and makes up for as many as it may; each refit stores all rows again.
func TestRefitsThatMakeDRealAnew(t *testing.T) {
	c := Config{Steps: 10, StartSteps: 4, Buffer: 8, Knobs: knob.Settings{RefitEvery: 3, Samples: 1, Relevance: "curiosity"}}
	c.Generator.Kind, c.Agent.Learner, c.Pixels = "diffusion", "drqv2", agent.DefaultPixels
	icm := relevance.DefaultICM()
	for _, test := range []struct {
		cadence relevance.Cadence
		want    int
	}{{relevance.Cadence{Warmup: 2}, 2}, {relevance.Cadence{Warmup: 9}, 3}, {relevance.Cadence{Every: 3, Warmup: 9}, 1}} {
		icm.Cadence = test.cadence
		c.Relevance = relevance.Configs{"curiosity": icm}
		if got, want := c.Lasts(Costs{Sample: 1, Warm: 1}), time.Duration(3*(1+test.want))*time.Second; got != want {
			t.Errorf("%+v: %s, want %s", test.cadence, got, want)
		}
	}
	if got := c.Stored(&c.Knobs); got != 3+6+8 {
		t.Errorf("%d rows are stored, want 17", got)
	}
	c.Agent.Learner = ""
	if got := c.Stored(&c.Knobs); got != 10 {
		t.Errorf("%d rows of the environment are stored, want 10", got)
	}
}

// The rows of all coming refits are counted without going through them one by one.
func TestRowsOfRefits(t *testing.T) {
	c := Config{Environment: task.Environment{Copies: 2}}
	for _, c.Steps = range []int{1, 7, 24, 25, 60} {
		for _, c.Buffer = range []int{1, 9, 12, 31, 500} {
			for every := 2; every < 9; every++ {
				for step := range c.Steps + 1 {
					n, rows := 0, 0
					for i := step/every + 1; i*every < c.Steps; i++ {
						n, rows = n+1, rows+c.CollectedBy(i*every)
					}
					if gotN, got := c.refits(&knob.Settings{RefitEvery: every}, step); gotN != n || got != rows {
						t.Fatalf("every %d of %d steps after %d, buffer %d: %d refits of %d rows, want %d of %d", every, c.Steps, step, c.Buffer, gotN, got, n, rows)
					}
				}
			}
		}
	}
	c.Steps, c.Buffer = MaxCount, MaxCount
	if n, rows := c.refits(&knob.Settings{RefitEvery: 1}, 0); n != MaxCount/2 || rows != 249_999_999_500_000_000 { // one in each env step
		t.Errorf("%d refits of %d rows", n, rows)
	}
}

// A run is refused if its frames cannot fit on the disk, and not if they may fit.
func TestFramesThatFitOnNoDisk(t *testing.T) {
	c := Config{Steps: 1_000_000, Members: 1}
	c.Agent.Learner, c.Pixels = "drqv2", agent.DefaultPixels
	c.Pixels.Side = 100 // 30,000 bytes
	problem := task.Task{EpisodeSteps: 1000}
	for free, want := range map[int64]string{0: "", 1 << 40: "", 1e9: "", 2e8: "frames of 1,000,000 env steps take about 6.992 GiB on the disk, 190.7 MiB are free: make fewer steps"} {
		err := c.FilmFits(free, problem)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with %d bytes free: %v, want %q", free, err, want)
		}
	}
	c.Agent.Learner = ""
	if err := c.FilmFits(1, problem); err != nil {
		t.Errorf("a run without frames: %v", err)
	}
}

// A learner that the knob utd does not act on has a pace of its own. The random start ends earlier
// with several copies, and PPO has none.
func TestPace(t *testing.T) {
	c := Config{StartSteps: 1999, Knobs: knob.Settings{UTD: 20}, Pixels: agent.DefaultPixels}
	c.Environment.Copies = 4
	for learner, want := range map[string]agent.Pace{"sac": {From: 499, Updates: 20, Every: 1}, "drqv2": {From: 499, Updates: 1, Every: 2}, "ppo": {Updates: 16, Every: 256}} {
		c.Agent.Learner = learner
		if got := c.Pace(); got != want {
			t.Errorf("%s: %+v, want %+v", learner, got, want)
		}
	}
}

// A run whose D_real forgets writes of it what it holds at its checkpoints, and no more than all.
func TestWhatCheckpointsTake(t *testing.T) {
	c := Config{Steps: 100}
	c.Evaluation.KeepEvery = 50
	if n := c.Checkpoints(11 * time.Minute); n != 3+2 {
		t.Errorf("%d checkpoints in 11 minutes, want 2 at intervals, 1 at the end, 2 that are kept", n)
	}
	d := DiskNeed{Checkpoint: 1, Generation: 10, Real: 1000, Held: 300}
	for checkpoints, want := range map[int]int64{1: 311, 3: 933, 4: 1044, 9: 1044} {
		if got := d.After(checkpoints); got != want {
			t.Errorf("%d checkpoints take %d bytes, want %d", checkpoints, got, want)
		}
	}
	if d.Total() != d.After(checkpointsKept) {
		t.Errorf("in all %d, want %d", d.Total(), d.After(checkpointsKept))
	}
}
