package ppo

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Agent is a learner of package agent that learns from a log of experience, between env steps. It
// belongs to one goroutine.
type Agent struct {
	config  Config
	dev     device.Device
	nets    networks
	adam    *plan.Adam
	rate    *op.Tensor // [1], the learning rate
	streams streams

	rollout    *rollout
	iterations uint64 // rollouts learned from; the occasion of the next orders
	updates    uint64 // steps made
	order      order
	result     [1]agent.UpdateResult

	learnings plan.Cache[int, *learning] // by number of synthetic rows
	values    plan.ByRows[*plan.Blocks]  // log π(a|s) and V(s)
	looks     plan.ByRows[*look]
	probes    *probe.Probes
	noise     []float32 // of choices
	found     found
	heads     *heads       // of the iteration, for synthetic rows; nil without a generator
	aligned   *aligned     // maps the latents of synthetic rows; nil without a generator
	filmed    *reel        // the images of a step's rows; nil unless frames are seen
	table     *table       // what steps read of the rollout, on a device apart
	tone      *window.Tone // of frames
}

// streams are an agent's random numbers: those of choices are indexed by env step, those of
// orders by iteration.
type streams struct{ explore, sample, order rng.Stream }

// adamOf is the Adam of openai/baselines.
func adamOf(c Config) plan.AdamConfig {
	a := plan.DefaultAdam
	a.Eps, a.ClipNorm = 1e-5, c.MaxNorm
	return a
}

// New initialises the weights and returns an agent; its programs are compiled when they are
// first needed. The random numbers are functions of the seed. log is nil for an agent that only acts.
func New(c Config, log *experience.Log, dev device.Device, seed uint64) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := rng.New(seed, "ppo")
	x := &Agent{
		config: c, dev: dev, nets: newNetworks(c, s.Sub("weights")), rate: op.NewTensor("rate", 1),
		streams: streams{explore: s.Sub("explore"), sample: s.Sub("sample"), order: s.Sub("order")},
		rollout: newRollout(c, log), tone: window.NewTone(0), table: newTable(c, dev),
	}
	x.adam = plan.NewAdam(x.nets.params(), adamOf(c), x.rate)
	x.probes = probe.New(dev, x.layers)
	x.learnings.Compile, x.learnings.Most = x.newLearning, keptLearnings
	x.values.Compile, x.looks.Compile = x.newValues, x.newLook
	if c.Side > 0 {
		var err error
		if x.filmed, err = newReel(x); err != nil {
			return nil, fmt.Errorf("agent: %w", err)
		}
	}
	if err := plan.Push(dev, x.nets.params()...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return x, nil
}

// Updates is the number of steps made.
func (x *Agent) Updates() uint64 { return x.updates }

// Prepare compiles what these uses need, instead of compiling it at the first use.
func (x *Agent) Prepare(u agent.Uses) error {
	if err := x.prepareLearning(); err != nil {
		return err
	}
	for _, copies := range []int{max(1, u.Copies), u.Evaluated} {
		if copies == 0 {
			continue
		}
		if _, err := x.looks.Of(agent.Padded(copies)); err != nil {
			return err
		}
	}
	return x.probes.Prepare(u)
}

// Close frees the compiled programs.
func (x *Agent) Close() error {
	return plan.Close(&x.learnings, &x.values, &x.looks, x.filmed, x.probes)
}
