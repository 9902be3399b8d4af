package lab

import (
	"math"
	"os"
	"slices"
	"testing"

	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/knob"
	"pgrlab/core/testing/emulator"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// A run whose env steps are one launch each, on an interpreted GPU, writes the same lines as the
// CPU's run, with losses that differ by rounding. Curiosity learns beside the agent, and synthetic
// transitions are generated and mixed in.
func TestARunOfWholeEnvSteps(t *testing.T) {
	if racing.On {
		t.Skip("the detector sees the interpreter in tests of its own")
	}
	machine := emulator.New(emulator.Options{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := realConfig()
	c.Steps, c.StartSteps, c.Evaluation.Every, c.Agent.Critics, c.Agent.Subset = 14, 9, 0, 3, 2
	c.Knobs.RefitEvery, c.Knobs.Samples, c.Knobs.GeneratorSteps, c.Knobs.UTD = 12, 16, 2, 3
	c.Schedule = []string{"13:lr_critic=0.001"}
	got, _ := runOn(t, c, dev)
	want, _ := realRun(t, c, 1)
	if a, b := sequence(got), sequence(want); a != b {
		t.Errorf("on the device\n%s\non the CPU\n%s", a, b)
	}
	near := func(what string, a, b float64) {
		t.Helper()
		if !(math.Abs(a-b) <= 1e-3*max(1e-2, math.Abs(b))) {
			t.Errorf("%s is %v, want %v", what, a, b)
		}
	}
	a, b := got.Snapshot(), want.Snapshot()
	near("the critics' loss", a.Losses.Critic, b.Losses.Critic)
	near("the policy's loss", a.Losses.Actor, b.Losses.Actor)
	near("α", a.Losses.Alpha, b.Losses.Alpha)
	near("the mean of Q", a.Losses.QMean, b.Losses.QMean)
	near("the curiosity's loss", a.Losses.Model, b.Losses.Model)
	if a.MixSynthetic != b.MixSynthetic || a.MixSynthetic == 0 || a.Updates != b.Updates {
		t.Errorf("%d synthetic rows after %d updates, want %d after %d", a.MixSynthetic, a.Updates, b.MixSynthetic, b.Updates)
	}
	if !got.x.first().Fused() || want.x.first().Fused() {
		t.Error("whole env steps are made on the CPU, or not on the device")
	}
	two := variant("max")
	two.Steps, two.StartSteps, two.Evaluation.Every, two.Knobs.GeneratorSteps, two.Knobs.Samples, two.Generator.Retain = 14, 9, 0, 2, 16, 1
	got, _ = runOn(t, two, dev)
	want, _ = realRun(t, two, 1)
	if a, b := sequence(got), sequence(want); a != b || !got.x.first().Fused() {
		t.Errorf("two agents on the device\n%s\non the CPU\n%s", a, b)
	}
	x, y := got.Snapshot().Losses.Explorer, want.Snapshot().Losses.Explorer
	near("the explorer's loss", x.Critic, y.Critic)
	near("the explorer's mean of Q", x.QMean, y.QMean)
}

// A run whose fits are sequences of gradient steps goes on from the borders of its slices as if it had not been interrupted: where
// sequences begin, with the steps after the last whole one, and with a change and a cohort between them.
func TestFitsTogetherGoOn(t *testing.T) {
	if racing.On {
		t.Skip("the detector sees the interpreter in tests of its own")
	}
	dev := interpreted(t, cuda.Options{})
	for name, members := range map[string]int{"one": 1, "a cohort": 2} {
		t.Run(name, func(t *testing.T) {
			if members > 1 && os.Getenv("PGRLAB_SOAK") == "" {
				t.Skip("twice as long: PGRLAB_SOAK=1")
			}
			c := realConfig()
			c.Members, c.Steps, c.StartSteps, c.Evaluation.Every = members, 13, 11, 0
			c.Generator.EMAEvery, c.Generator.Slice = 4, 1 // 16 steps at once
			c.Knobs.RefitEvery, c.Knobs.Samples, c.Knobs.GeneratorSteps, c.Knobs.UTD = 12, 16, 18, 1
			c.Schedule = []string{"12/fit:16:guidance=2"}
			var fits, calls []int
			phases := resumeFrom(t, func(_ int, p knob.Position) bool {
				if p.Phase == knob.Fit {
					fits = append(fits, p.I)
				}
				if p.Phase == knob.Generate {
					calls = append(calls, p.I)
				}
				return p.Phase == knob.Fit || p.Phase == knob.Generate
			}, func(r record) *Lab {
				return framesOn(t, c, tiny.Task(), dev, r)
			})
			if want := []int{0, 16}; phases[knob.Fit] != len(want) || !slices.Equal(fits[:min(len(fits), len(want))], want) {
				t.Errorf("borders of the fit at %v, want %v", fits, want)
			}
			if len(calls) < 2 || calls[1] != 4 {
				t.Errorf("borders of the generation at %v", calls)
			}
		})
	}
}
