package drqv2

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/images"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Agent is a learner of package agent that sees frames and makes its updates between env steps. It
// belongs to one goroutine.
type Agent struct {
	config Config
	dev    device.Device
	nets   networks
	frames window.Frames

	criticAdam, actorAdam *plan.Adam    // criticAdam also steps E
	rateCritic, rateActor *op.Tensor    // [1], learning rates
	tau                   *op.Tensor    // [1]
	sigma                 *op.Tensor    // [A], σ for every action
	store                 *images.Store // the device's copy of the frames
	streams               streams

	updates  uint64   // made; the occasion of the next one
	now      progress // of the update under way
	updaters plan.Cache[replay.Mix, *updater]
	result   [1]agent.UpdateResult

	looks  plan.ByRows[*look]
	probes *probe.Probes
	noise  []float32 // of an action
	crops  [agent.MostCrops]cropped
}

// streams are an agent's random numbers: those of batches are indexed by update and row,
// those of the noise of acting by env step.
type streams struct{ shift, target, actor, act rng.Stream }

// New initialises the weights and returns an agent; its programs are compiled when they
// are first needed. The random numbers are functions of the seed.
func New(c Config, dev device.Device, seed uint64) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := rng.New(seed, "drqv2")
	x := &Agent{
		config: c, dev: dev, nets: newNetworks(c, s.Sub("weights")),
		frames:     window.Frames{Height: c.Pixels.Side, Width: c.Pixels.Side, Channels: agent.Colours, Pad: c.Pixels.Pad},
		rateCritic: op.NewTensor("rate", 1), rateActor: op.NewTensor("rate", 1), tau: op.NewTensor("tau", 1), sigma: op.NewTensor("sigma", c.Act),
		streams: streams{shift: s.Sub("shift"), target: s.Sub("target noise"), actor: s.Sub("actor noise"), act: s.Sub("act")},
	}
	x.criticAdam = plan.NewAdam(append(x.nets.encoderParams(), x.nets.valueParams()...), plan.DefaultAdam, x.rateCritic)
	x.actorAdam = plan.NewAdam(x.nets.actorParams(), plan.DefaultAdam, x.rateActor)
	x.probes = probe.New(dev, x.layers)
	x.updaters.Compile, x.updaters.Most, x.looks.Compile = x.newUpdater, keptMixes, x.newLook
	if err := plan.Push(dev, x.nets.state()...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	x.store = images.NewStore(dev, x.frames.Size())
	return x, nil
}

// Remark says that the device's copy of the frames had to go, or is back.
func (x *Agent) Remark() string { return x.store.Remark() }

// Updates is the number of updates made.
func (x *Agent) Updates() uint64 { return x.updates }

// Prepare compiles what these uses need, instead of compiling it at the first use: of the updates as
// many as stay compiled at a time.
func (x *Agent) Prepare(u agent.Uses) error {
	for _, m := range u.Mixes[:min(len(u.Mixes), keptMixes)] {
		if _, err := x.updater(m); err != nil {
			return err
		}
	}
	for _, copies := range []int{max(1, u.Copies), u.Evaluated, u.Probed} {
		if copies == 0 {
			continue
		}
		if _, err := x.look(copies); err != nil {
			return err
		}
	}
	return x.probes.Prepare(u)
}

// Close frees the compiled programs.
func (x *Agent) Close() error { return plan.Close(&x.updaters, &x.looks, x.store, x.probes) }
