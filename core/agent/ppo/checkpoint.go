package ppo

import (
	"encoding/binary"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// magic begins a saved agent; the digit is the version of the format.
const magic = "PGRP2\n"

// counters are what random numbers depend on, and where the rollout begins.
type counters struct{ Updates, Iterations, From uint64 }

// Save writes everything that learning depends on.
func (x *Agent) Save(w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	r := x.rollout
	if err := binary.Write(w, binary.LittleEndian, counters{x.updates, x.iterations, r.From}); err != nil {
		return err
	}
	if err := plan.Save(x.dev, w, x.nets.params()); err != nil {
		return err
	}
	if err := x.adam.Save(w); err != nil {
		return err
	}
	for _, part := range r.computed() {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same configuration; learning goes on as if it had not
// stopped. It reads no byte beyond. On an error the agent must not be used any further.
func (x *Agent) Load(in io.Reader) error {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if string(head) != magic {
		return version.ErrOther
	}
	var c counters
	if err := binary.Read(in, binary.LittleEndian, &c); err != nil {
		return err
	}
	x.updates, x.iterations, x.order.epoch = c.Updates, c.Iterations, 0
	if err := plan.Load(x.dev, in, x.nets.params()); err != nil {
		return err
	}
	if err := x.adam.Load(in); err != nil {
		return err
	}
	r := x.rollout
	r.gathered = 0
	if err := r.Begun(c.From); err != nil {
		return err
	}
	for _, part := range r.computed() {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// SavePolicy writes what acting needs, in the format of nn.Save.
func (x *Agent) SavePolicy(w io.Writer) error {
	return plan.Save(x.dev, w, x.nets.policyParams())
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (x *Agent) LoadPolicy(r io.Reader) error {
	return plan.Load(x.dev, r, x.nets.policyParams())
}
