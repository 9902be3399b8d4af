package sac

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/probe"
	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Agent is a learner of package agent that makes updates on batches of D_real. It belongs to one
// goroutine.
type Agent struct {
	config Config
	dev    device.Device
	nets   networks
	temp   *temperature

	policyAdam, criticAdam  *plan.Adam
	rateActor, rateCritic   *op.Tensor // [1], learning rates
	tau, gamma              *op.Tensor // [1]
	chosen                  *op.Tensor // [M], the critics of the present target; nil if all are
	subset                  []int      // the same on the host
	subsets                 rng.Stream
	targetNoise, actorNoise rng.Stream
	actNoise, sampleNoise   rng.Stream
	heads                   rng.Stream
	head                    *op.Tensor // [1], the critic that acts

	updates uint64 // critic updates made; the occasion of the next one
	since   int    // critic updates made in this env step

	choose  stage                // chooses an update's critics; nil if all are in the target
	rings   *rings               // nil unless the device samples batches itself
	results []agent.UpdateResult // of the last updates

	updaters plan.Cache[updaterKey, *updater]
	actors   plan.Cache[actorKey, *actor]
	choosing plan.ByRows[*choosing]
	probes   *probe.Probes
	// Estimates, a block of valueRows rows at a time.
	returns, errors, samples, values, spreads plan.ByRows[*plan.Blocks]
}

// New initialises the weights and returns an agent; its programs are compiled when they
// are first needed. The random numbers are functions of the seed.
func New(c Config, dev device.Device, seed uint64) (*Agent, error) {
	return create(c, dev, rng.New(seed, "agent"))
}

// create is New with random numbers of that stream.
func create(c Config, dev device.Device, stream rng.Stream) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Agent{
		config: c, dev: dev, nets: newNetworks(c, stream.Sub("weights")), temp: newTemperature(c, dev),
		rateActor: op.NewTensor("rate", 1), rateCritic: op.NewTensor("rate", 1),
		tau: op.NewTensor("tau", 1), gamma: op.NewTensor("gamma", 1),
		subsets: stream.Sub("subset"), targetNoise: stream.Sub("target noise"),
		actorNoise: stream.Sub("actor noise"), actNoise: stream.Sub("act"), sampleNoise: stream.Sub("sample"),
		heads: stream.Sub("head"), head: op.NewTensor("head", 1),
	}
	s.gamma.Data[0] = float32(c.Gamma)
	s.policyAdam = plan.NewAdam(s.nets.policy.Params(), plan.DefaultAdam, s.rateActor)
	s.criticAdam = plan.NewAdam(s.nets.critics.params(), plan.DefaultAdam, s.rateCritic)
	if c.Subset < c.Critics {
		s.chosen, s.subset = op.NewTensor("members", c.Subset), make([]int, c.Subset)
		s.choose = subsetChooser{s}
	}
	s.probes = probe.New(dev, s.layers)
	s.updaters.Compile, s.updaters.Most = s.newUpdater, keptSizes
	s.actors.Compile, s.choosing.Compile = s.newActor, s.newChoosing
	s.returns.Compile, s.errors.Compile, s.samples.Compile, s.values.Compile, s.spreads.Compile = s.compileReturns, s.compileErrors, s.compileSamples, s.compileValues, s.compileSpreads
	if err := plan.Push(dev, s.nets.state()...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if dev, all := dev.(device.Sequencer); all {
		return s, s.leave(dev)
	}
	return s, nil
}

// leave hands the device the work that the host otherwise does between gradient steps.
func (s *Agent) leave(dev device.Sequencer) (err error) {
	if err := s.temp.push(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if s.chosen != nil {
		s.choose, err = plan.CompileRoutine("choose", plan.Choose{Out: s.chosen, Of: s.config.Critics, Stream: s.subsets}, dev)
		if err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	s.rings = &rings{dev: dev, shape: replay.Shape{Obs: s.config.Obs, Act: s.config.Act}}
	return nil
}

// Updates is the number of critic updates made.
func (s *Agent) Updates() uint64 { return s.updates }

// Alpha is the present α.
func (s *Agent) Alpha() float64 { return float64(s.temp.alpha.Data[0]) }

// Close frees the compiled programs.
func (s *Agent) Close() error {
	choose, _ := s.choose.(*plan.Program)
	return plan.Close(choose, s.rings, &s.updaters, &s.actors, &s.choosing, s.probes, &s.returns, &s.errors, &s.samples, &s.values, &s.spreads)
}
