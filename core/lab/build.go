package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/task"
)

// newParts makes members of the real parts: learner, relevance functions and generator,
// on a device.
func newParts(c *config.Config, task task.Task, dev device.Device) (parts, error) {
	if err := c.Validate(); err != nil {
		return parts{}, err
	}
	learner, deps := c.Learner(task)
	shape := learner.RowShape(deps)
	if err := shape.Validate(); err != nil {
		return parts{}, fmt.Errorf("learner %s: D_real: %w", learner.Name, err)
	}
	seen := task // as the generator sees it
	if learner.Rows != nil {
		seen.Ends, seen.Turning = nil, nil // of observations
	}
	if learner.Check != nil {
		if err := learner.Check(deps); err != nil {
			return parts{}, err
		}
	}
	deps.Device = dev
	if err := c.ValidateSettings(); err != nil {
		return parts{}, err
	}
	return parts{
		shape: shape, fills: learner.Rows != nil,
		device: parkerOf(dev),
		learner: func(seed uint64) (agent.Learner, error) {
			deps := deps
			deps.Seed = seed
			return learner.New(deps)
		},
		generator: func(policy agent.Policy, seed uint64) (generative.Generator, error) {
			return newGenerator(&c.Generator, seen, shape, policy, dev, seed)
		},
		relevance: func(name string, values relevance.Values, seed uint64) (relevance.Function, error) {
			return relevance.New(name, relevance.Deps{Config: c.Relevance.Of(name), Values: values, Shape: shape, Device: dev, Seed: seed})
		},
	}, nil
}

// newGenerator makes the generator of that configuration for rows of that shape, on a task;
// policy is that of the agent, nil where there is none.
func newGenerator(c *config.Generator, task task.Task, shape replay.Shape, policy agent.Policy, dev device.Device, seed uint64) (generative.Generator, error) {
	kind, err := generative.Find(c.Kind)
	if err != nil {
		return nil, err
	}
	d := generative.Deps{Config: c.Config, Settings: c.Kinds.Of(c.Kind), Shape: shape, Device: dev, Seed: seed, Turning: task.Turning, Ends: task.Ends}
	if policy != nil {
		d.Policy = sampling{policy}
	}
	g, err := kind.New(d)
	if err != nil || !c.Head.Enabled() {
		return g, err
	}
	headed, err := generative.WithHeads(g, c.Head, c.Config, shape, task.Turning, dev, seed)
	if err != nil {
		g.Close()
		return nil, err
	}
	return headed, nil
}
