package agent

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// SAC is an agent. It belongs to one goroutine.
type SAC struct {
	config Config
	dev    device.Device
	nets   networks
	temp   *temperature

	policyAdam, criticAdam  *plan.Adam
	rateActor, rateCritic   *op.Tensor // [1], learning rates
	tau, gamma              *op.Tensor // [1]
	members                 *op.Tensor // [M], the subset of the present target; nil for all
	subset                  []int
	subsets                 rng.Stream
	targetNoise, actorNoise rng.Stream
	actNoise, heads         rng.Stream
	head                    *op.Tensor // [1], the critic that acts

	updates uint64 // critic updates made; the occasion of the next one
	since   int    // critic updates made in this env step

	choose  *plan.Program  // chooses members; nil: the host does
	feed    *feed          // where the device samples batches itself; else nil
	results []UpdateResult // of the last env step

	updaters []*updater // the last sizes used, newest first
	acting   *acting
	choosing *choosing
	means    map[int]*meanActing
	probes   map[int]*probe
	returns  *valuing
	errors   *erring
	soft     *soft
}

// New initialises the weights and returns an agent; its programs are compiled when they
// are first needed. The random numbers are functions of the seed.
func New(c Config, dev device.Device, seed uint64) (*SAC, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	stream := rng.New(seed, "agent")
	s := &SAC{
		config: c, dev: dev, nets: newNetworks(c, stream.Sub("weights")), temp: newTemperature(c, dev),
		rateActor: op.NewTensor("rate", 1), rateCritic: op.NewTensor("rate", 1),
		tau: op.NewTensor("tau", 1), gamma: op.NewTensor("gamma", 1),
		subsets: stream.Sub("subset"), targetNoise: stream.Sub("target noise"),
		actorNoise: stream.Sub("actor noise"), actNoise: stream.Sub("act"),
		heads: stream.Sub("head"), head: op.NewTensor("head", 1),
		means: map[int]*meanActing{}, probes: map[int]*probe{},
	}
	s.gamma.Data[0] = float32(c.Gamma)
	s.policyAdam = plan.NewAdam(s.nets.policy.Params(), plan.DefaultAdam, s.rateActor)
	s.criticAdam = plan.NewAdam(s.nets.critics.params(), plan.DefaultAdam, s.rateCritic)
	if c.Subset < c.Critics {
		s.members = op.NewTensor("members", c.Subset)
		s.subset = make([]int, c.Subset)
	}
	if err := plan.Push(dev, s.nets.state()...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if dev, all := dev.(device.Sequencer); all {
		return s, s.leave(dev)
	}
	return s, nil
}

// leave leaves to the device what else the host does between gradient steps.
func (s *SAC) leave(dev device.Sequencer) (err error) {
	if err := s.temp.push(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if s.members != nil {
		s.choose, err = plan.CompileAct("choose", plan.Choose{Out: s.members, Of: s.config.Critics, Stream: s.subsets}, dev)
		if err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	s.feed = &feed{dev: dev, shape: replay.Shape{Obs: s.config.Obs, Act: s.config.Act}}
	return nil
}

// Updates is the number of critic updates made.
func (s *SAC) Updates() uint64 { return s.updates }

// Alpha is the present α.
func (s *SAC) Alpha() float64 { return float64(s.temp.alpha.Data[0]) }

// compile builds a graph and compiles it; build returns what the program is for.
func (s *SAC) compile(name string, build func(g *op.Graph) plan.Spec) (*plan.Program, error) {
	var spec plan.Spec
	g, err := op.Build(name, func(g *op.Graph) { spec = build(g) })
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	p, err := plan.Compile(g, spec, s.dev)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return p, nil
}

// Close frees the compiled programs.
func (s *SAC) Close() error {
	var err error
	for _, u := range s.updaters {
		err = errors.Join(err, u.close())
	}
	if s.feed != nil {
		err = errors.Join(err, s.feed.close())
	}
	programs := []*plan.Program{s.choose}
	if s.acting != nil {
		programs = append(programs, s.acting.program)
	}
	if s.choosing != nil {
		programs = append(programs, s.choosing.program)
	}
	for _, m := range s.means {
		programs = append(programs, m.program)
	}
	for _, p := range s.probes {
		programs = append(programs, p.program)
	}
	if s.returns != nil {
		programs = append(programs, s.returns.program)
	}
	if s.errors != nil {
		programs = append(programs, s.errors.program)
	}
	if s.soft != nil {
		programs = append(programs, s.soft.sample, s.soft.value)
	}
	return errors.Join(err, closeAll(programs))
}

func closeAll(programs []*plan.Program) (err error) {
	for _, p := range programs {
		if p == nil {
			continue
		}
		if e := p.Close(); e != nil && err == nil {
			err = fmt.Errorf("agent: %w", e)
		}
	}
	return err
}
