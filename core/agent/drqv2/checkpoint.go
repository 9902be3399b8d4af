package drqv2

import (
	"fmt"
	"io"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// counters are what random numbers depend on, and the update under way.
type counters struct {
	Updates         uint64
	Size, Synthetic uint64 // of the batch of the update under way, and how many of its rows; 0: there is none
	Rates           rates  // of that update
	Stepped         bool   // its critics have stepped: the features follow
	Loss, QMean     float64
}

// learned is what follows the counters in a file, but for the features.
func (x *Agent) learned() []any {
	return []any{plan.Tensors{Device: x.dev, Of: x.nets.state()}, x.criticAdam, x.actorAdam}
}

// Save writes everything that learning depends on. In the middle of an update this includes
// the encoder's output for the batch if the encoder has stepped since; otherwise the agent
// that loads the file repeats the part of the update that was done.
func (x *Agent) Save(w io.Writer) error {
	c := counters{Updates: x.updates, Size: uint64(x.now.mix.Size()), Synthetic: uint64(x.now.mix.Synthetic)}
	var features []*op.Tensor
	if c.Size > 0 {
		u, err := x.updater(x.now.mix)
		if err != nil {
			return err
		}
		c.Rates = x.now.rates
		if c.Stepped = x.now.done == u.parts; c.Stepped {
			c.Loss, c.QMean, features = x.now.loss, x.now.qMean, u.kept()
		}
	}
	return plan.SaveAll(w, append(append([]any{&c}, x.learned()...), plan.Tensors{Device: x.dev, Of: features})...)
}

// kept returns the features of an update whose critics have stepped.
func (u *updater) kept() []*op.Tensor {
	if u.features == nil {
		return nil
	}
	return []*op.Tensor{u.features}
}

// maxSize bounds the batch of a saved update: a file can hold any size and still have a valid
// checksum.
const maxSize = 1 << 14

// Load reads what Save wrote for the same configuration; learning goes on as if it had not
// stopped. It reads no byte beyond. On an error the agent must not be used any further.
func (x *Agent) Load(r io.Reader) error {
	var c counters
	if err := plan.LoadAll(r, &c); err != nil {
		return err
	}
	if c.Size > maxSize || c.Stepped && c.Size == 0 || c.Synthetic > c.Size {
		return fmt.Errorf("an update on a batch of %d rows is saved, %d of them synthetic", c.Size, c.Synthetic)
	}
	x.updates, x.now = c.Updates, progress{rates: c.Rates, mix: replay.Mix{Real: int(c.Size - c.Synthetic), Synthetic: int(c.Synthetic)}}
	if err := plan.LoadAll(r, x.learned()...); err != nil {
		return err
	}
	features := plan.Tensors{Device: x.dev}
	if c.Stepped {
		u, err := x.updater(x.now.mix)
		if err != nil {
			return err
		}
		x.now.done, x.now.loss, x.now.qMean, features.Of = u.parts, c.Loss, c.QMean, u.kept()
	}
	return plan.LoadAll(r, features)
}

// SavePolicy writes what acting needs, in the format of nn.Save.
func (x *Agent) SavePolicy(w io.Writer) error {
	return plan.Save(x.dev, w, x.nets.policyParams())
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (x *Agent) LoadPolicy(r io.Reader) error {
	return plan.Load(x.dev, r, x.nets.policyParams())
}
