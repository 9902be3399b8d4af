package replica

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/generative"
	"pgrlab/core/generative/relabel"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/task"
)

// Parts makes what a member consists of.
type Parts struct {
	Shape  replay.Shape    // of the rows of D_real and D_syn
	Names  []string        // of the numbers of an observation in them; nil: unknown
	Fills  bool            // the learner fills D_real, with rows of its own
	Keep   experience.Keep // of the log; zero: there is none
	Random bool            // actions are random until there is enough to learn from
	// Explores says that the learner learns from F of synthetic rows, in their notes.
	Explores bool
	// Recorded are the rows of data that a replica begins with, one after the other.
	Recorded []float32
	// Learner makes a learner; log is what it observes, nil for one that only acts.
	Learner   func(log *experience.Log, seed uint64) (*agent.Made, error)
	Generator func(policy agent.Policy, seed uint64) (generative.Generator, error)
	// Relevance makes the function of that name; functions that need an agent's values, or the models
	// of a generator, are refused without them. log is as for Learner.
	Relevance func(name string, log *experience.Log, values relevance.Values, g generative.Generator, seed uint64) (*relevance.Model, error)
}

// NewParts returns the real parts: learner, relevance functions and generator of the
// configuration, on a device.
func NewParts(c *config.Config, task task.Task, dev device.Device) (Parts, error) {
	if err := c.Validate(); err != nil {
		return Parts{}, err
	}
	if err := c.CanMake(task); err != nil {
		return Parts{}, err
	}
	learner, deps := c.Learner(task)
	shape, is := c.Rows(task), c.Traits(task)
	seen := task // as the generator sees it
	if is.Fills() {
		seen.Ends, seen.Turning, seen.Directions = nil, nil, nil // they describe observations
	}
	deps.Device = dev
	names := task.Names
	if len(names) != shape.Obs {
		names = nil // the learner makes rows of its own
	}
	return Parts{
		Names: names, Shape: shape, Fills: is.Fills(), Keep: c.Keeps(task), Random: is.Random, Explores: learner.Explores,
		Learner: func(log *experience.Log, seed uint64) (*agent.Made, error) {
			deps := deps
			deps.Log, deps.Seed = log, seed
			return learner.New(deps)
		},
		Generator: func(policy agent.Policy, seed uint64) (generative.Generator, error) {
			return newGenerator(c, seen, shape, policy, dev, seed)
		},
		Relevance: func(name string, log *experience.Log, values relevance.Values, g generative.Generator, seed uint64) (*relevance.Model, error) {
			models, err := modelsOf(c, g)
			if err != nil {
				return nil, err
			}
			return relevance.New(name, relevance.Deps{
				Config: c.Relevance.Of(name), Values: values, Models: models, Shape: shape, Met: deps.Shape, Copies: deps.Copies, Log: log, Frames: c.Sight(), Made: is.Fills(), Device: dev, Seed: seed,
			})
		},
	}, nil
}

// newGenerator makes the generator of that configuration for rows of that shape, on a task;
// policy is the agent's, or nil.
func newGenerator(whole *config.Config, task task.Task, shape replay.Shape, policy agent.Policy, dev device.Device, seed uint64) (generative.Generator, error) {
	c := &whole.Generator
	kind, err := generative.Find(c.Kind)
	if err != nil {
		return nil, err
	}
	d := generative.Deps{Config: c.Config, Settings: c.Kinds.Of(c.Kind), Shape: shape, Device: dev, Seed: seed, Turning: task.Turning, Directions: task.Directions, Ends: task.Ends}
	if policy != nil {
		d.Policy = &sampling{policy: policy}
	}
	g, err := kind.New(d)
	if err != nil {
		return nil, err
	}
	var label func(rows []float32) error
	if c.Head.Enabled() {
		headed, err := generative.WithHeads(g, c.Head, d)
		if err != nil {
			g.Close()
			return nil, err
		}
		g, label = headed, headed.Label
	}
	if !c.Relabels() {
		return g, nil
	}
	return relabel.New(g, d, label, func() (relabel.Simulator, error) { return Simulator(task, seed) })
}

// Simulator makes an environment of a task that can be set to states.
func Simulator(t task.Task, seed uint64) (relabel.Simulator, error) {
	env, err := t.New(seed)
	if err != nil {
		return nil, err
	}
	placed, is := env.(relabel.Simulator)
	if !is {
		env.Close()
		return nil, fmt.Errorf("%s cannot be set to a state", t.Name)
	}
	return placed, nil
}

// modelsOf returns the models of the dynamics that a generator of that configuration has; nil if it has
// none, or none whose predictions can be compared.
func modelsOf(c *config.Config, g generative.Generator) (relevance.Models, error) {
	if g == nil || c.HasModels() != nil {
		return nil, nil
	}
	kind, err := generative.Find(c.Generator.Kind)
	if err != nil {
		return nil, err
	}
	return kind.Models(c.Generator.Kinds.Of(c.Generator.Kind), g)
}

// sampling is the agent as seen by a generator that rolls out a model.
type sampling struct {
	policy agent.Policy
	acting agent.Acting // of the last call
}

// Sample implements generative.Policy. A policy that remembers its episode begins again at every
// observation.
func (s *sampling) Sample(dst, obs []float32, rows int, occasion uint64) error {
	s.acting.State = resized(s.acting.State, rows*s.policy.StateSize())
	clear(s.acting.State)
	s.acting.Copies, s.acting.Obs, s.acting.Actions, s.acting.Step, s.acting.Mode = rows, obs, dst, occasion, agent.Sample
	return s.policy.Act(&s.acting)
}
