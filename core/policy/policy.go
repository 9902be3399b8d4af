// Package policy implements what a run leaves behind that acts: the file of its policy. Save
// writes it with a checksum, Load makes a Policy that acts without anything else of the run, and
// ReadLayers reads its layers for other programs. Random is the policy that every run begins
// with.
package policy

import (
	"bytes"
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/rng"
	"pgrlab/core/task"
)

// Policy acts and does not learn. It belongs to one goroutine.
type Policy interface {
	// Act writes the action [A] for an observation [O]; step counts the calls, from
	// 0, over all episodes.
	Act(dst, obs []float32, step uint64) error
	// Begin begins an episode: nothing of another one is remembered.
	Begin()
	Close() error
}

// Random draws actions of a task uniformly, as a run does in its first steps; its Act ignores
// obs.
func Random(t task.Task, seed uint64) Policy { return randomPolicy{t, rng.New(seed, "random policy")} }

type randomPolicy struct {
	task   task.Task
	stream rng.Stream
}

func (p randomPolicy) Act(dst, _ []float32, step uint64) error {
	p.stream.FillUniform(dst, step, 0)
	p.task.Random(dst)
	return nil
}

func (randomPolicy) Begin()       {}
func (randomPolicy) Close() error { return nil }

// Load reads what a run of configuration c saved as its policy. It acts as the run's
// evaluations do; a policy that acts on frames is Sighted.
func Load(c *config.Config, task task.Task, dev device.Device, r io.Reader) (Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	acts := *c
	acts.Steps = 1 // nothing is collected
	if err := acts.FitsInto(config.ThisMachine(), task); err != nil {
		return nil, err
	}
	most := int64(c.Limit(task)) // what is read is at most what the configuration has room for
	r, err := unsealed(io.LimitReader(r, most))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer // read twice
	if _, err := readWeights(io.TeeReader(r, &text)); err != nil {
		return nil, err
	}
	learner, deps := c.Learner(task)
	deps.Device = dev
	a, err := learner.New(deps)
	if err != nil {
		return nil, err
	}
	if err := a.LoadPolicy(&text); err != nil {
		a.Close()
		return nil, fmt.Errorf("%w: is it of a run on %s?", err, task.Name)
	}
	mode, err := c.Evaluation.Mode()
	acting := learnedPolicy{agent: a, acting: agent.Acting{Copies: 1, State: make([]float32, a.StateSize()), Mode: mode}}
	if c.Sees() {
		return newSighted(acting, c.Pixels.Side, c.Pixels.Stack), err
	}
	return &acting, err
}

type learnedPolicy struct {
	agent  *agent.Made
	acting agent.Acting
}

func (p *learnedPolicy) Act(dst, obs []float32, step uint64) error {
	p.acting.Obs, p.acting.Actions, p.acting.Step = obs, dst, step
	return p.agent.Act(&p.acting)
}

func (p *learnedPolicy) Begin()       { clear(p.acting.State) }
func (p *learnedPolicy) Close() error { return p.agent.Close() }
