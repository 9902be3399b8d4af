package relevance

import (
	"fmt"
	"io"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// trainer is what functions that learn in steps have in common: a batch, the program
// of an update with its optimiser, and what is saved of them. Where the batch is to be
// an input of the program, its slices are those of the program.
type trainer struct {
	name      string // in errors
	device    device.Device
	batch     *replay.Batch
	step      *plan.Program
	optimiser *plan.Adam
	state     []*op.Tensor // weights and statistics
}

// Batch is the memory that Train reads: real transitions only, drawn by the caller.
func (t *trainer) Batch() *replay.Batch { return t.batch }

// Train makes one Adam step on Batch and returns its loss.
func (t *trainer) Train() (loss float64, err error) {
	if err := t.step.Run(0); err != nil {
		return 0, fmt.Errorf("train %s: %w", t.name, err)
	}
	return t.step.Loss(), nil
}

// Save writes weights, statistics and the optimiser.
func (t *trainer) Save(w io.Writer) error {
	if err := plan.Save(t.device, w, t.state); err != nil {
		return fmt.Errorf("save %s: %w", t.name, err)
	}
	if err := t.optimiser.Save(w); err != nil {
		return fmt.Errorf("save %s: %w", t.name, err)
	}
	return nil
}

// Load reads what Save wrote for the same settings. On an error the function must not
// be used any further.
func (t *trainer) Load(r io.Reader) error {
	if err := plan.Load(t.device, r, t.state); err != nil {
		return fmt.Errorf("load %s: %w", t.name, err)
	}
	if err := t.optimiser.Load(r); err != nil {
		return fmt.Errorf("load %s: %w", t.name, err)
	}
	return nil
}

// closed releases programs; nil ones were not compiled.
func closed(programs ...*plan.Program) error {
	for _, p := range programs {
		if p != nil {
			p.Close()
		}
	}
	return nil
}
