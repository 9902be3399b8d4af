package drqv2_test

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/experience"
	"pgrlab/core/testing/tiny"
)

// Beside a generator D_real holds latents of the present encoder, and D_syn one generation: earlier
// ones would be of other encoders.
func TestOneGenerationOfLatents(t *testing.T) {
	for retain, refused := range []bool{false, false, true} {
		latents, states := tiny.Latents(), tiny.Config()
		latents.Generator.Retain, states.Generator.Retain = retain, retain
		if err := latents.Validate(); (err != nil) != refused || refused && (!strings.Contains(err.Error(), "generator.retain is 2") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%d generations of latents: %v", retain, err)
		}
		if err := states.Validate(); err != nil {
			t.Errorf("%d generations of states: %v", retain, err)
		}
	}
}

// F of episodes as they are met, which takes a learner that reads env steps in their order, is neither offered nor counted.
func TestNoRelevanceOfEpisodes(t *testing.T) {
	c := tiny.Latents()
	if all := c.Functions(); slices.Contains(all, "eco") || !slices.Contains(all, "curiosity") {
		t.Errorf("a run may come to use %q", all)
	}
	c.Knobs.Relevance = "eco"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `relevance "eco" is of episodes as they are met`) {
		t.Error(err)
	}
}

// An episode must have a row of n env steps, unless it may come to a true end. Whatever the length
// of episodes, the frames that are kept at least then always have one.
func TestEpisodesHaveRows(t *testing.T) {
	c, own := tiny.Pixels(), drqv2.DefaultSettings
	of := tiny.Task()
	for n, refused := range map[int]bool{60: false, 61: true} {
		own.NStep = n
		c.Agent.Own = agent.Own{"drqv2": own}
		if of.Terminates = false; (c.CanMake(of) != nil) != refused || refused && !strings.Contains(c.CanMake(of).Error(), "agent.drqv2.n_step is 61, but an episode of task world has 60 env steps") {
			t.Errorf("n %d: %v", n, c.CanMake(of))
		}
		if of.Terminates = true; c.CanMake(of) != nil {
			t.Errorf("n %d before true ends: %v", n, c.CanMake(of))
		}
	}
	own.NStep, c.Buffer = 3, 1
	c.Agent.Own = agent.Own{"drqv2": own}
	for length := own.NStep; length < 15; length++ {
		frames := experience.NewLog(experience.Shape{Bytes: 1, Act: 1, Copies: 1}, experience.Keep{Looks: c.FrameCapacity(of)})
		for step := range 40 {
			if step%length == 0 {
				frames.Begin(0, experience.Look{Frame: []byte{0}})
			}
			if w := (experience.Frames{Log: frames}).Windows(own.NStep, c.Pixels.Stack, 1); step >= own.NStep && len(w.Runs) == 0 {
				t.Fatalf("episodes of %d env steps: no row among %d frames after step %d", length, frames.Len(), step)
			}
			frames.Add(0, experience.Step{Action: []float32{0}, Reward: 0, Next: experience.Look{Frame: []byte{0}}})
		}
	}
}
