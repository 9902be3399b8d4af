package lab

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/dreamer"
	"pgrlab/core/config"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// dreamerConfig is a run of DreamerV3 with the smallest possible model of the world.
func dreamerConfig() config.Config {
	c := tiny.Config()
	c.Method, c.StartSteps = "dreamerv3", 0
	c.Agent.Learner = "dreamer"
	own := dreamer.DefaultSettings
	own.Deter, own.Stoch, own.Classes, own.Hidden, own.Units, own.Bins = 8, 2, 3, 4, 5, 7
	own.Sequences, own.Length, own.Imagine, own.TrainRatio, own.Warmup = 2, 4, 2, 8, 2
	c.Agent.Own = agent.Own{"dreamer": own}
	c.Knobs.LRActor, c.Knobs.Tau, c.Knobs.Entropy = 1e-3, 0.02, 3e-4
	withoutGenerator(&c)
	return c
}

// dreamerOfFrames is one that sees frames.
func dreamerOfFrames() config.Config {
	c := dreamerConfig()
	c.Environment.Observation = task.ObservationPixels
	c.Pixels = agent.Pixels{Side: 48, Stack: 1, Channels: 3, Strides: []int{4, 2}, Feature: 4}
	own := c.Agent.Own["dreamer"].(dreamer.Settings)
	own.Depth = 2
	c.Agent.Own = agent.Own{"dreamer": own}
	return c
}
