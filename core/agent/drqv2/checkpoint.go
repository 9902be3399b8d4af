package drqv2

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/version"
)

// magic begins a saved agent, magicWithin one in the middle of an update, which adds more and the rates
// of that update; the digit is the version of the format.
const (
	magic       = "PGRD4\n"
	magicWithin = "PGRD5\n"
)

// counters are what random numbers depend on, and the update under way.
type counters struct {
	Updates uint64
	Size    uint64 // of the batch of the update under way; 0: there is none
	Stepped bool   // its critics have stepped: the features follow
	Loss    float64
	QMean   float64
}

// more follows the counters in the middle of an update.
type more struct {
	Synthetic uint64 // how many of the Size rows
}

// Save writes everything that learning depends on. In the middle of an update this includes
// the encoder's output for the batch if the encoder has stepped since; otherwise the agent
// that loads the file repeats the part of the update that was done.
func (x *Agent) Save(w io.Writer) error {
	c := counters{Updates: x.updates, Size: uint64(x.now.mix.Size())}
	var features []*op.Tensor
	if c.Size > 0 {
		u, err := x.updater(x.now.mix)
		if err != nil {
			return err
		}
		if c.Stepped = x.now.done == u.parts; c.Stepped {
			c.Loss, c.QMean, features = x.now.loss, x.now.qMean, u.kept()
		}
	}
	if err := x.writeCounters(w, c); err != nil {
		return err
	}
	if err := plan.Save(x.dev, w, x.nets.state()); err != nil {
		return err
	}
	if err := x.criticAdam.Save(w); err != nil {
		return err
	}
	if err := x.actorAdam.Save(w); err != nil {
		return err
	}
	return plan.Save(x.dev, w, features)
}

// writeCounters writes the beginning of a file.
func (x *Agent) writeCounters(w io.Writer, c counters) error {
	head, parts := magic, []any{c}
	if c.Size > 0 {
		head = magicWithin
		parts = append(parts, more{uint64(x.now.mix.Synthetic)}, x.now.rates)
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, part := range parts {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
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
	c, also, taken, err := readCounters(r)
	if err != nil {
		return err
	}
	x.updates, x.now = c.Updates, progress{rates: taken, mix: replay.Mix{Real: int(c.Size - also.Synthetic), Synthetic: int(also.Synthetic)}}
	if err := plan.Load(x.dev, r, x.nets.state()); err != nil {
		return err
	}
	if err := x.criticAdam.Load(r); err != nil {
		return err
	}
	if err := x.actorAdam.Load(r); err != nil {
		return err
	}
	if !c.Stepped {
		return plan.Load(x.dev, r, nil)
	}
	u, err := x.updater(x.now.mix)
	if err != nil {
		return err
	}
	x.now.done, x.now.loss, x.now.qMean = u.parts, c.Loss, c.QMean
	return plan.Load(x.dev, r, u.kept())
}

// readCounters reads the beginning of a file.
func readCounters(r io.Reader) (c counters, also more, taken rates, err error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil {
		return c, also, taken, err
	}
	parts, known := map[string][]any{magic: {&c}, magicWithin: {&c, &also, &taken}}[string(head)]
	if !known {
		return c, also, taken, version.ErrOther
	}
	for _, part := range parts {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return c, also, taken, err
		}
	}
	if within := string(head) == magicWithin; within != (c.Size > 0) {
		return c, also, taken, version.ErrOther
	}
	if c.Size > maxSize || c.Stepped && c.Size == 0 || also.Synthetic > c.Size {
		return c, also, taken, fmt.Errorf("an update on a batch of %d rows is saved, %d of them synthetic", c.Size, also.Synthetic)
	}
	return c, also, taken, nil
}

// SavePolicy writes what acting needs, in the format of nn.Save.
func (x *Agent) SavePolicy(w io.Writer) error {
	return plan.Save(x.dev, w, x.nets.policyParams())
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (x *Agent) LoadPolicy(r io.Reader) error {
	return plan.Load(x.dev, r, x.nets.policyParams())
}
