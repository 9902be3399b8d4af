package dreamer

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// Agent is a learner of package agent that learns a model of the world from sequences of a log, and to act in
// what it imagines. It belongs to one goroutine.
type Agent struct {
	config    Config
	dev       device.Device
	nets      *networks
	optimiser *plan.Adam
	rate, tau *op.Tensor      // [1]
	sums      *plan.Gradients // of all parameters, over an update
	streams   streams

	memory   *memory
	updates  uint64 // made; the occasion of the next one
	returns  span   // of imagined returns
	now      progress
	stages   []stage
	batch    *batch    // nil before the first update
	programs *programs // the same
	loop     *openLoop // nil before the first prediction
	result   [1]agent.UpdateResult
	world    agent.World // of the result

	looks  plan.ByRows[*look]
	probes *probe.Probes
}

// streams are an agent's random numbers: those of updates are indexed by update, those of acting by env step.
type streams struct{ posterior, prior, actions, explore, evaluate, predicted, noise rng.Stream }

// span is the range of imagined returns, between two percentiles, as it moves.
type span struct{ Low, High float64 }

// scale is what advantages are divided by.
func (s span) scale() float64 { return max(1, s.High-s.Low) }

// New initialises the weights and returns an agent; its programs are compiled when they are first needed. The
// random numbers are functions of the seed. log is nil for an agent that only acts.
func New(c Config, log *experience.Log, dev device.Device, seed uint64) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := rng.New(seed, "dreamer")
	x := &Agent{
		config: c, dev: dev, nets: newNetworks(c, s.Sub("weights")), rate: op.NewTensor("rate", 1), tau: op.NewTensor("tau", 1),
		streams: streams{s.Sub("posterior"), s.Sub("prior"), s.Sub("actions"), s.Sub("explore"), s.Sub("evaluate"), s.Sub("predicted"), s.Sub("noise")},
		memory:  newMemory(c, log, s.Sub("sequences")), stages: c.stages(),
	}
	x.optimiser = plan.NewAdam(x.nets.learned(), plan.DefaultLaProp, x.rate)
	x.sums = plan.NewGradients(x.nets.learned())
	x.probes = probe.New(dev, x.layers)
	x.looks.Compile = x.newLook
	if err := plan.Push(dev, append(x.nets.state(), x.nets.bins)...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return x, nil
}

// Updates is the number of updates made.
func (x *Agent) Updates() uint64 { return x.updates }

// prepare compiles the programs of updates, if they are not compiled yet.
func (x *Agent) prepare(with noise) (err error) {
	if x.programs != nil {
		return nil
	}
	if err := plan.Push(x.dev, x.sums.Sums...); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	p, rows, sight := new(programs), x.config.partRows(), x.config.sightRows()
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	for _, compile := range []func() error{
		func() (err error) { p.encode, err = x.newEncode(sight); return },
		func() (err error) { p.observe, err = x.newObserve(with); return },
		func() (err error) { p.world, err = x.newWorld(rows); return },
		func() (err error) { p.decode, err = x.newDecode(sight); return },
		func() (err error) { p.imagine, err = x.newImagine(rows, with); return },
		func() (err error) { p.judge, err = x.newJudge(rows); return },
		func() (err error) { p.behave, err = x.newBehave(rows); return },
		func() (err error) { p.replayed, err = x.newReplayed(rows); return },
		func() (err error) { p.back, err = x.newBack(); return },
		func() (err error) { p.senses, err = x.newSenses(sight); return },
		func() (err error) { p.step, err = x.newStep(); return },
	} {
		if err = compile(); err != nil {
			return err
		}
	}
	x.programs, x.batch = p, newBatch(x.config)
	return nil
}

// Prepare compiles what these uses need, instead of compiling it at the first use.
func (x *Agent) Prepare(u agent.Uses) error {
	if err := x.prepare(drawn); err != nil {
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
	return plan.Close(x.programs, x.loop, &x.looks, x.probes)
}

// Close frees the programs.
func (p *programs) Close() error {
	if p == nil {
		return nil
	}
	return plan.Close(p.encode.Program, p.observe.Program, p.world.Program, p.decode.Program, p.imagine.Program, p.judge.Program, p.behave.Program, p.replayed.Program, p.back.Program, p.senses.Program, p.step)
}
