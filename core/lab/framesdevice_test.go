package lab

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/emulator"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// interpreted makes an interpreted GPU.
func interpreted(t *testing.T, o cuda.Options) *cuda.Device {
	t.Helper()
	machine := emulator.New(emulator.Options{Unchecked: true})
	dev, err := cuda.New(func() (driver.Context, error) { return machine.Open(0) }, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// brief shortens a run to what an interpreted GPU can afford. The refit is at step 12.
func brief(c config.Config) config.Config {
	c.Steps, c.Evaluation.Every, c.Evaluation.Episodes = 16, 16, 1
	c.Knobs.Samples, c.Knobs.GeneratorSteps, c.Knobs.SamplerSteps = 16, 2, 2
	return c
}

// distilled makes RND of frames as small as possible, since one of its updates takes seconds on
// such a GPU.
func distilled(c config.Config) config.Config {
	rnd := c.Relevance.Of("rnd").(relevance.RNDConfig)
	rnd.Every, rnd.Hidden, rnd.Features, rnd.Batch, rnd.ScoreRows = 12, 8, 4, 2, 2
	c.Relevance = c.Relevance.With("rnd", rnd)
	return c
}

// inAMaze does the same as brief for PPO.
func inAMaze(c config.Config) config.Config {
	c.Steps, c.Evaluation.Every, c.Evaluation.Episodes, c.Schedule = 10, 10, 1, nil
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Minibatches = 2
	c.Agent.Own = agent.Own{"ppo": own}
	return c
}

// A run from frames on an interpreted GPU writes what the CPU's run writes. All the device memory
// that it needs is taken before it begins: the device has no more, so that the host makes the images. With one byte less the run does not begin, and says so in one line.
func TestRunsFromFramesOnADevice(t *testing.T) {
	if racing.On {
		t.Skip("the detector sees the interpreter in tests of its own")
	}
	all := map[string]config.Config{"latents": brief(tiny.Latents())} // an agent beside a generator
	if os.Getenv("PGRLAB_SOAK") != "" {
		grown := brief(tiny.Latents())
		grown.Knobs.Hold, grown.Knobs.Relevance = knob.HoldReal, "return"
		agents := brief(tiny.Pixels())
		agents.Members = 2
		all["hold real"], all["drqv2"], all["ppo"] = grown, agents, inAMaze(ppoOfFrames())
		all["rnd"] = distilled(brief(looking("rnd")))
		all["ppo with a bonus"] = inAMaze(distilled(ppoRNDOfFrames(1)))
		all["ppo with curiosity"] = inAMaze(ppoCuriosityOfFrames(1))
		beside := inAMaze(brief(ppoLatentOfFrames("none")))
		beside.Steps, beside.Evaluation.Every = 17, 17 // steps 9 to 16 have synthetic rows
		all["ppo beside a generator"] = beside
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			of := tiny.Task()
			if c.Agent.Learner == "ppo" {
				of = mazeTask(t)
			}
			need := needed(t, c, of)
			dev := interpreted(t, cuda.Options{Memory: need})
			got, want := framesOn(t, c, of, dev, nil), framesLabOf(t, c, of, 1, nil)
			if _, err := got.Prepare(); err != nil {
				t.Fatal(err)
			}
			for _, l := range []*Lab{got, want} {
				if err := l.x.run(context.Background()); err != nil {
					t.Fatal(err)
				}
				defer l.Close()
			}
			sameRuns(t, got, want)
			short(t, c, of, need-1)
			if name == "latents" || name == "drqv2" || name == "ppo" {
				holding(t, c, of, want)
			}
		})
	}
}

// holding checks that a run on a device with memory for a copy of the frames, too, is the same.
func holding(t *testing.T, c config.Config, of task.Task, want *Lab) {
	t.Helper()
	dev := interpreted(t, cuda.Options{})
	got := framesOn(t, c, of, dev, nil)
	defer got.Close()
	if err := got.x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if dev.Memory().Frames == 0 {
		t.Error("the device holds no frames")
	}
	sameRuns(t, got, want)
}

// needed returns how many bytes of a device a run takes before it begins.
func needed(t *testing.T, c config.Config, of task.Task) uint64 {
	t.Helper()
	dev := interpreted(t, cuda.Options{})
	l := framesOn(t, c, of, dev, nil)
	defer l.Close()
	if _, err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	return dev.Taken()
}

// sameRuns compares what two runs write about their learning.
func sameRuns(t *testing.T, got, want *Lab) {
	t.Helper()
	if a, b := sequence(got), sequence(want); a != b {
		t.Errorf("on the device\n%s\non the CPU\n%s", a, b)
	}
	a, b := got.Snapshot(), want.Snapshot()
	near := func(what string, a, b float64) {
		t.Helper()
		if math.IsNaN(a) != math.IsNaN(b) || math.Abs(a-b) > 1e-3*max(1e-2, math.Abs(b)) {
			t.Errorf("%s is %v, want %v", what, a, b)
		}
	}
	near("the critics' loss", a.Losses.Critic, b.Losses.Critic)
	near("the policy's loss", a.Losses.Actor, b.Losses.Actor)
	near("the mean of Q", a.Losses.QMean, b.Losses.QMean)
	near("the loss of F", a.Losses.Model, b.Losses.Model)
	if c := want.x.config; (c.Knobs.Relevance == "rnd" || c.Bonus.Given()) && math.IsNaN(b.Losses.Model) {
		t.Error("RND has learned nothing")
	}
	if a.MixSynthetic != b.MixSynthetic || a.Updates != b.Updates || a.Updates == 0 {
		t.Errorf("%d synthetic rows after %d updates, want %d after %d", a.MixSynthetic, a.Updates, b.MixSynthetic, b.Updates)
	}
	one, _ := bodies[event.Evaluated](got)
	other, _ := bodies[event.Evaluated](want)
	if len(one) != len(other) || len(one) == 0 {
		t.Fatalf("%d evaluations, want %d", len(one), len(other))
	}
	for i := range one {
		near("the return", float64(one[i].ReturnMean), float64(other[i].ReturnMean))
	}
}

// short checks that a run which needs more memory than there is does not begin.
func short(t *testing.T, c config.Config, of task.Task, memory uint64) {
	t.Helper()
	dev := interpreted(t, cuda.Options{Memory: memory})
	l, err := New(context.Background(), c, of, dev, nil)
	if err == nil {
		defer l.Close()
		_, err = l.Prepare()
	}
	var full *device.OutOfMemory
	if !errors.As(err, &full) || strings.Contains(err.Error(), "\n") {
		t.Errorf("with %d bytes: %v", memory, err)
	}
}

// A run from frames on a device goes on as if it had not been interrupted: in the middle of a mixed
// update, and of making D_real.
func TestRunsFromFramesOnADeviceGoOn(t *testing.T) {
	if os.Getenv("PGRLAB_SOAK") == "" {
		t.Skip("minutes on an interpreted GPU: PGRLAB_SOAK=1; TestARunApartGoesOnFromBorders has a device apart that is quick")
	}
	c, dev := brief(tiny.Latents()), interpreted(t, cuda.Options{})
	c.Schedule = []string{"12/encode:0:tau=0.5", "14/learn:1:lr_actor=0.01"}
	phases := resumeEverywhere(t, 1, func(r record) *Lab { return framesOn(t, c, tiny.Task(), dev, r) })
	if phases[knob.Learn] < 1 || phases[knob.Encode] < 2 {
		t.Errorf("too few borders: %v", phases)
	}
}
