package lab

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// framesLab makes a run of DrQ-v2, in a folder or in memory.
func framesLab(t *testing.T, c config.Config, threads int, folder record) *Lab {
	t.Helper()
	return framesLabOf(t, c, tiny.Task(), threads, folder)
}

// framesLabOf makes a run on a task with frames.
func framesLabOf(t *testing.T, c config.Config, of task.Task, threads int, folder record) *Lab {
	t.Helper()
	dev := quick(t, threads)
	return framesOn(t, c, of, dev, folder)
}

// framesOn makes a run on a task with frames, on a device.
func framesOn(t *testing.T, c config.Config, of task.Task, dev device.Device, folder record) *Lab {
	t.Helper()
	c = inEnvSteps(c)
	p, err := newParts(&c, of, dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, of, folder, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	return l
}

// A run from frames writes the same with one worker and with more, in one copy of the environment
// and in three. It learns after the random start, and writes the same kinds of lines as SAC.
func TestARunFromFrames(t *testing.T) {
	for _, copies := range []int{1, 3} {
		var journals []string
		for _, threads := range []int{1, 2, 5} {
			c := tiny.Pixels()
			c.Environment.Copies = copies
			folder := &memoryFolder{}
			l := framesLab(t, c, threads, folder)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			l.x.asides.showMoment()
			if now := l.x.asides.moment; len(now.Seen) != c.Pixels.Stack || now.Side != c.Pixels.Side || len(now.Seen[0]) != 3*now.Side*now.Side || len(now.Action) == 0 {
				t.Errorf("the moment has %d frames of side %d", len(now.Seen), now.Side)
			}
			if crops := l.x.asides.moment.Crops; len(crops) != agent.MostCrops || len(crops[0].Cropped) != len(crops[0].Frame) {
				t.Errorf("the moment has %d crops", len(crops))
			}
			losses, _ := bodies[event.Losses](l)
			dormant, _ := bodies[event.Dormant](l)
			evaluated, _ := bodies[event.Evaluated](l)
			if len(losses) != 2 || losses[0].Critic == nil || losses[0].Actor == nil || losses[0].Alpha != nil || len(dormant) != 2 || len(evaluated) != 2 {
				t.Fatalf("losses %+v, dormant %+v, evaluated %+v", losses, dormant, evaluated)
			}
			// Of the updates up to env step 13, the middle one is at that env step.
			if middle := map[int]uint64{1: 11, 3: 8}[copies]; losses[0].Noise == nil || math.Abs(float64(*losses[0].Noise)-c.Agent.Own["drqv2"].(drqv2.Settings).Sigma(middle)) > 1e-9 {
				t.Errorf("in %d copies the noise is %v", copies, losses[0].Noise)
			}
			// An update is made at every second env step after 8 transitions.
			if want := uint64((26 - 8/copies) / 2); l.x.first().Updates != want {
				t.Errorf("in %d copies %d updates, want %d", copies, l.x.first().Updates, want)
			}
		}
		for i, other := range journals[1:] {
			if other != journals[0] {
				t.Errorf("one worker writes\n%s\nothers (%d) write\n%s", journals[0], i, other)
			}
		}
	}
}

// Frames that newer ones have replaced stay lost in a resumed run.
func TestARunFromFewFramesGoesOn(t *testing.T) {
	c := tiny.Pixels()
	c.Buffer, c.Members = 12, 2
	resumeEverywhere(t, 5, func(r record) *Lab { return framesLab(t, c, 1, r) })
}

// Settings that make frames impossible, or that do not go with frames, are refused in one line
// before the run.
func TestFramesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"environment.observation is \"state\", but learner drqv2":  func(c *config.Config) { c.Environment.Observation = "state" },
		"environment.observation is \"touch\"":                     func(c *config.Config) { c.Environment.Observation = "touch" },
		"takes states: want \"state\", or a method with a learner": func(c *config.Config) { c.Agent.Learner, c.Environment.Observation = "sac", "pixels" },
		"pixels.side is 0":                    func(c *config.Config) { c.Pixels.Side = 0 },
		"pixels.strides [2 2 2 2] do not fit": func(c *config.Config) { c.Pixels.Strides = []int{2, 2, 2, 2} },
		"subset is 1 of 2 critics":            func(c *config.Config) { c.Agent.Subset = 1 },
		"but learner drqv2 takes rewards neither": func(c *config.Config) {
			c.Pixels.Side, c.Bonus = 36, config.Bonus{Function: "rnd", Scale: config.ScaleReturns}
		},
	} {
		c := tiny.Pixels()
		change(&c)
		l, err := New(context.Background(), c, tiny.Task(), tiny.Device(t), nil)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	unseen := tiny.Task()
	unseen.Seen = false
	if _, err := New(context.Background(), tiny.Pixels(), unseen, tiny.Device(t), nil); err == nil || !strings.Contains(err.Error(), "has no camera") {
		t.Errorf("a task that is never drawn: %v", err)
	}
}
