package bench

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// raysShape is the shape of a maze's rays and actions; raysCopies is the number of mazes acted in
// at once.
var raysShape = replay.Shape{Obs: 160, Act: 9}

const raysCopies = 16

// raysPPO is the PPO that learns from rays, framesPPO the one that learns from the paper's frames.
func raysPPO() ppo.Config { return ppo.DefaultConfig(raysShape, raysCopies) }

func framesPPO() ppo.Config {
	c := ppo.DefaultConfig(raysShape, 12)
	c.Side, c.Hidden = 84, []int{512}
	return c
}

// minibatch is a step of PPO on a quarter of a rollout, including standardising advantages and
// gathering rows.
func minibatch(of func() ppo.Config) func(dev device.Device) (func(uint64) error, float64, error) {
	return func(dev device.Device) (func(uint64) error, float64, error) { return stepOf(of(), dev) }
}

func stepOf(c ppo.Config, dev device.Device) (func(uint64) error, float64, error) {
	log := experience.NewLog(c.Looks(), experience.Keep{Looks: c.Copies * (c.Steps + 2), Steps: c.Steps})
	x, err := ppo.New(c, log, dev, 1)
	if err != nil {
		return nil, 0, err
	}
	play(c, log)
	phase, w := x.Phases()[0], &agent.Work{Rates: ppo.DefaultRates}
	total, err := phase.Start(w)
	if err != nil {
		return nil, 0, err
	}
	return func(i uint64) error {
		_, made, err := phase.Slice(w, int(i)%(total-1)) // the last one ends the iteration
		if err == nil {
			err = made[0].Err
		}
		if err != nil {
			return fmt.Errorf("minibatch: %w", err)
		}
		return nil
	}, float64(c.Steps*c.Copies/c.Minibatches) * c.Operations(), nil
}

// play fills a rollout with env steps between two looks of noise.
func play(c ppo.Config, log *experience.Log) {
	rewards := random("r", c.Copies).Data
	looks := func(name string) (all []experience.Look) {
		numbers := random(name, c.Copies, c.Shape.Obs).Data
		for i := range c.Copies {
			all = append(all, experience.Look{Numbers: numbers[i*c.Shape.Obs:][:c.Shape.Obs]})
		}
		for i, frame := range snow(c.Copies, c.Side) {
			if c.Side > 0 {
				all[i] = experience.Look{Frame: frame}
			}
		}
		return all
	}
	seen, next := looks("s"), looks("s'")
	for i := range c.Copies {
		log.Begin(i, seen[i])
	}
	for range c.Steps {
		for i := range c.Copies {
			action := make([]float32, c.Shape.Act)
			action[i%c.Shape.Act] = 1
			log.Add(i, experience.Step{Action: action, Reward: rewards[i], Next: next[i]})
		}
	}
}

// snow returns frames of noise.
func snow(n, side int) (frames [][]byte) {
	numbers := random("frames", n, side*side*agent.Colours).Data
	for i := range n {
		frame := make([]byte, side*side*agent.Colours)
		for k := range frame {
			frame[k] = byte(128 + 40*numbers[i*len(frame)+k])
		}
		frames = append(frames, frame)
	}
	return frames
}

// choosing is one choice of action in each maze.
func choosing(dev device.Device) (func(uint64) error, float64, error) {
	c := raysPPO()
	x, err := ppo.New(c, nil, dev, 1)
	if err != nil {
		return nil, 0, err
	}
	n := c.Copies
	a := agent.Acting{Copies: n, Obs: random("s", n, c.Shape.Obs).Data, Actions: make([]float32, n*c.Shape.Act), Episodes: make([]uint64, n), Mode: agent.Explore}
	return func(i uint64) error { a.Step = i; return x.Act(&a) }, 0, nil
}
