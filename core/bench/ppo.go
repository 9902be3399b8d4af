package bench

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// raysShape are a maze's rays and actions, raysCopies how many mazes are acted in at once.
var raysShape = replay.Shape{Obs: 160, Act: 9}

const raysCopies = 16

func newPPO(dev device.Device) (*ppo.Agent, ppo.Config, error) {
	c := ppo.DefaultConfig(raysShape, raysCopies)
	x, err := ppo.New(c, dev, 1)
	return x, c, err
}

// minibatch is a step of PPO on a quarter of a rollout, standardised advantages and gathered
// rows included.
func minibatch(dev device.Device) (func(uint64) error, float64, error) {
	x, c, err := newPPO(dev)
	if err != nil {
		return nil, 0, err
	}
	n := c.Copies
	e := agent.Experience{
		Copies: n, Obs: random("s", n, c.Shape.Obs).Data, Next: random("s'", n, c.Shape.Obs).Data, Actions: make([]float32, n*c.Shape.Act),
		Rewards: random("r", n).Data, Ends: make([]agent.End, n),
	}
	for i := range n {
		e.Actions[i*c.Shape.Act+i%c.Shape.Act] = 1
	}
	for range c.Steps {
		if err := x.Observe(&e); err != nil {
			return nil, 0, err
		}
	}
	phase, w := x.Phases()[0], &agent.Work{Rates: ppo.DefaultRates}
	total, err := phase.Start(w)
	if err != nil {
		return nil, 0, err
	}
	flops := 0.0
	widths := append([]int{c.Shape.Obs}, c.Hidden...)
	for i, in := range widths[:len(widths)-1] {
		passes := 6.0
		if i == 0 {
			passes = 4 // nobody asks for the gradient of rays
		}
		flops += passes * float64(in*widths[i+1])
	}
	flops += 6 * float64(widths[len(widths)-1]*(c.Shape.Act+1))
	return func(i uint64) error {
		_, made, err := phase.Slice(w, int(i)%(total-1)) // the last one ends the iteration
		if err == nil {
			err = made[0].Err
		}
		if err != nil {
			return fmt.Errorf("minibatch: %w", err)
		}
		return nil
	}, float64(c.Steps*n/c.Minibatches) * flops, nil
}

// choosing is one choice in each maze.
func choosing(dev device.Device) (func(uint64) error, float64, error) {
	x, c, err := newPPO(dev)
	if err != nil {
		return nil, 0, err
	}
	n := c.Copies
	a := agent.Acting{Copies: n, Obs: random("s", n, c.Shape.Obs).Data, Actions: make([]float32, n*c.Shape.Act), Episodes: make([]uint64, n), Mode: agent.Explore}
	return func(i uint64) error { a.Step = i; return x.Act(&a) }, 0, nil
}
