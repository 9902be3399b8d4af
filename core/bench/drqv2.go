package bench

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// frameUpdate is the shape of a whole update of DrQ-v2 (Yarats et al. 2022) on pixels.
type frameUpdate struct {
	pixels
	hidden, slice int
}

// config is the agent's configuration.
func (d frameUpdate) config() drqv2.Config {
	c := drqv2.DefaultConfig(6)
	c.Pixels = d.pixels.Pixels
	c.Hidden, c.Slice = []int{d.hidden, d.hidden}, d.slice
	return c
}

// film is a few stacks of frames, which the rows of a batch use in turn.
type film struct {
	agent.Frames // an update calls only Draw
	stacks       [][][]byte
	action       []float32
}

func newFilm(c drqv2.Config, stacks int) *film {
	f := &film{action: make([]float32, c.Act)}
	rng.New(1, "bench film").FillUniform(f.action, 0, 0)
	for i := range stacks {
		stack := make([][]byte, c.Pixels.Stack)
		for k := range stack {
			stack[k] = make([]byte, c.Pixels.Side*c.Pixels.Side*agent.Colours)
			for j := range stack[k] {
				stack[k][j] = byte(i*31 + k*17 + j*7)
			}
		}
		f.stacks = append(f.stacks, stack)
	}
	return f
}

// Draw implements agent.Frames.
func (f *film) Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error {
	at := (int(occasion)*7 + row) % len(f.stacks)
	next := (at + n) % len(f.stacks)
	copy(dst.Stack, f.stacks[at])
	copy(dst.Next, f.stacks[next])
	for k := range dst.Places {
		dst.Places[k], dst.NextPlaces[k] = at*len(dst.Places)+k, next*len(dst.Places)+k
	}
	dst.Action, dst.Return, dst.Discount = f.action, float32(at%5)/5, float32(gamma)
	return nil
}

// Places implements images.Source.
func (f *film) Places() (held, most int) {
	n := len(f.stacks) * len(f.stacks[0])
	return n, n
}

// Copy implements images.Source. The frames never change.
func (f *film) Copy(to *experience.Copied, put func(place int, frames []byte) error) error {
	if to.Follows(f, 0) {
		return nil
	}
	for i, stack := range f.stacks {
		for k, frame := range stack {
			if err := put(i*len(stack)+k, frame); err != nil {
				*to = experience.Copied{}
				return err
			}
		}
	}
	return nil
}

// flops is the number of floating-point operations of an update: the encoder on s and s′, and
// backwards on s; eight passes of a trunk; the heads.
func (d frameUpdate) flops() float64 {
	layers, flat := d.encoder()
	c := d.config()
	e, h, feature, act := flops(layers), float64(d.hidden), float64(c.Pixels.Feature), float64(c.Act)
	q, policy := 2*((feature+act)*h+h*h+h), 2*(feature*h+h*h+act*h)
	return float64(d.batch) * (4*e - flops(layers[:1]) + 16*float64(flat)*feature + 12*q + 4*policy)
}

// update is a whole update, from frames to averages; choosing the frames is not included.
func (d frameUpdate) update(dev device.Device) (func(uint64) error, float64, error) {
	c := d.config()
	x, err := drqv2.New(c, dev, 1)
	if err != nil {
		return nil, 0, err
	}
	phase := x.Phases()[0]
	w := &agent.Work{Step: c.UpdateEvery, Enough: true, Rates: drqv2.DefaultRates, Source: agent.BatchSource{Frames: newFilm(c, 2*d.batch), Mix: replay.Mix{Real: d.batch}}}
	return updating(phase, w), d.flops(), nil
}

// updating makes the updates of a phase of a learner.
func updating(phase agent.Phase, w *agent.Work) func(uint64) error {
	return func(uint64) error {
		total, err := phase.Start(w)
		for done, n := 0, 0; err == nil && done < total; done += n {
			var made []agent.UpdateResult
			if n, made, err = phase.Slice(w, done); len(made) > 0 && err == nil {
				err = made[0].Err
			}
		}
		if err != nil {
			return fmt.Errorf("update: %w", err)
		}
		return nil
	}
}
