package generative

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// levelsTogether is how many noise levels of a sample a device takes at once, with two evaluations each. Commands wait
// for them.
const levelsTogether = 2

// several are evaluations for consecutive noise levels that a device makes as one sequence: a prediction and a correction
// in turn.
type several struct {
	sequence *plan.Sequence
	at       []uint64
}

// pair identifies a prediction and a correction.
type pair [2]evaluation

// newSeveral compiles a sequence; the result is nil if the device has none, or no room for it.
func (c *calls) newSeveral(p pair) (*several, error) {
	dev, can := c.device.(device.Sequencer)
	if !can {
		return nil, nil
	}
	var programs []*plan.Program
	for range levelsTogether {
		for _, e := range p {
			program, err := c.programs.Of(e)
			if err != nil {
				return nil, err
			}
			programs = append(programs, program)
		}
	}
	own := append([]*op.Tensor{c.chunk.raise, c.chunk.inverse, c.chunk.stride, c.in, c.skip, c.scale}, c.levels.now...)
	sequence, err := plan.NewSequence(dev, programs, own...)
	var small *device.OutOfMemory
	if errors.As(err, &small) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	return &several{sequence, make([]uint64, len(programs))}, nil
}

// Close frees the sequence; it does nothing with nil.
func (s *several) Close() error {
	if s == nil {
		return nil
	}
	return s.sequence.Close()
}

// place is where the numbers of an evaluation go: to tensors, or to those that a run of a sequence reads in their place.
type place func(t *op.Tensor) []float32

// here is the place of an evaluation alone.
func here(t *op.Tensor) []float32 { return t.Data }

// run returns the place of run i of the sequence.
func (s *several) run(i int) place {
	return func(t *op.Tensor) []float32 { return s.sequence.Own(i, t) }
}
