package bench

import (
	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/device"
	"pgrlab/core/dynamics"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// modelled is the shape of cheetah-run's transitions, whose model MBPO's ensemble is timed with.
var modelled = replay.Shape{Obs: 17, Act: 6}

const (
	modelledRows = 50_000  // transitions that are learned from: half of a run
	starts       = 100_000 // rollouts of a generation
)

// observed are transitions of random numbers with smooth changes of s, so that a model of them is an
// ordinary one.
func observed(n int) *replay.Ring {
	numbers, ring, row := rng.New(1, "bench observed"), replay.NewRing(modelled, n), make([]float32, modelled.Width())
	for i := range n {
		numbers.FillNormal(row, uint64(i), 0)
		s, next := row[:modelled.Obs], row[modelled.Obs+modelled.Act+1:]
		for j := range s {
			next[j] = s[j] + 0.1*s[(j+1)%len(s)]
		}
		row[len(row)-1] = 0 // no terminal transitions
		ring.AddRows(row)
	}
	return ring
}

// samples is an agent as a generator sees it.
type samples struct {
	agent  *sac.Agent
	acting agent.Acting
}

func (a *samples) Sample(dst, obs []float32, rows int, occasion uint64) error {
	a.acting = agent.Acting{Copies: rows, Obs: obs, Actions: dst, Step: occasion, Mode: agent.Sample}
	return a.agent.Act(&a.acting)
}

// newModel is MBPO's ensemble with a policy of two layers of 256, as its code has it.
func newModel(dev device.Device) (*generative.Ensemble, generative.EnsembleConfig, error) {
	c, own := generative.Default(), generative.DefaultEnsemble()
	a, err := sac.New(sac.DefaultConfig(modelled.Obs, modelled.Act), dev, 1)
	if err != nil {
		return nil, own, err
	}
	e, err := generative.NewEnsemble(generative.Deps{Config: c, Settings: own, Shape: modelled, Device: dev, Seed: 1, Policy: &samples{agent: a}})
	return e, own, err
}

// modelFit is a gradient step of all networks of the ensemble, rows drawn and standardised, and its
// share of what ends an epoch.
func modelFit(dev device.Device) (func(uint64) error, float64, error) {
	e, own, err := newModel(dev)
	if err != nil {
		return nil, 0, err
	}
	rows, done := observed(modelledRows), true
	knobs := generative.FitKnobs{Steps: 1_000_000, LR: 1e-3}
	step := func(i uint64) (err error) {
		if done {
			if err := e.StartFit(rows, nil, knobs, i); err != nil {
				return err
			}
		}
		_, done, err = e.FitSteps(1)
		return err
	}
	c := dynamics.Config{In: modelled.Obs + modelled.Act, Out: 1 + modelled.Obs, Members: own.Members, Width: own.Width, Layers: own.Layers}
	// The first layer needs no gradient for its input.
	return step, 2 * 256 * (3*c.Parameters() - float64(own.Members*c.In*own.Width)), nil
}

// rollout is a generation of rollouts of one step: the policy's actions, an elite of each row, its
// samples.
func rollout(dev device.Device) (func(uint64) error, float64, error) {
	e, own, err := newModel(dev)
	if err != nil {
		return nil, 0, err
	}
	if err := e.StartFit(observed(modelledRows), nil, generative.FitKnobs{Steps: 1, LR: 1e-3}, 0); err != nil {
		return nil, 0, err
	}
	if _, _, err := e.FitSteps(1); err != nil {
		return nil, 0, err
	}
	knobs := generative.GenKnobs{Samples: starts, Steps: 2, TopFraction: 1, Horizon: 1}
	step := func(i uint64) error {
		if err := e.StartGenerate(knobs, i); err != nil {
			return err
		}
		for {
			if _, done, total, err := e.GenerateSlice(); err != nil || done == total {
				return err
			}
		}
	}
	policy := modelled.Obs*256 + 256*256 + 256*2*modelled.Act
	one := dynamics.Config{In: modelled.Obs + modelled.Act, Out: 1 + modelled.Obs, Members: 1, Width: own.Width, Layers: own.Layers}
	return step, 2 * starts * (float64(policy) + one.Parameters()), nil
}
