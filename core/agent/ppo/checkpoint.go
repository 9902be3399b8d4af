package ppo

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// magic begins a saved agent; the digit is the version of the format.
const magic = "PGRP1\n"

// counters are what random numbers depend on, and the number of limits that follow.
type counters struct {
	Updates, Iterations uint64
	Limits              uint32
}

// Save writes everything that learning depends on.
func (x *Agent) Save(w io.Writer) error {
	if err := x.save(w); err != nil {
		return fmt.Errorf("save agent: %w", err)
	}
	return nil
}

func (x *Agent) save(w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	r := x.rollout
	if err := binary.Write(w, binary.LittleEndian, counters{x.updates, x.iterations, uint32(len(r.limits))}); err != nil {
		return err
	}
	if err := plan.Save(x.dev, w, x.nets.params()); err != nil {
		return err
	}
	if err := x.adam.Save(w); err != nil {
		return err
	}
	if err := r.Save(w); err != nil {
		return err
	}
	for _, l := range r.limits {
		if err := binary.Write(w, binary.LittleEndian, uint32(l.row)); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, l.obs); err != nil {
			return err
		}
		if _, err := w.Write(l.frame); err != nil {
			return err
		}
	}
	for _, part := range [][]byte{r.frames, r.nextFrames} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	for _, part := range r.computed() {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// computed returns what a file has of a rollout besides its rows, frames and limits.
func (r *rollout) computed() [][]float32 {
	return [][]float32{r.next, r.values, r.logp, r.advantages}
}

// Load reads what Save wrote for the same configuration; learning goes on as if it had not
// stopped. It reads no byte beyond. On an error the agent must not be used any further.
func (x *Agent) Load(r io.Reader) error {
	if err := x.load(r); err != nil {
		return fmt.Errorf("load agent: %w", err)
	}
	return nil
}

func (x *Agent) load(in io.Reader) error {
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
	r.version++
	if err := r.Load(in); err != nil {
		return err
	}
	if err := r.loadLimits(in, int(c.Limits), x.config); err != nil {
		return err
	}
	for _, part := range [][]byte{r.frames, r.nextFrames} {
		if _, err := io.ReadFull(in, part); err != nil {
			return err
		}
	}
	for _, part := range r.computed() {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *rollout) loadLimits(in io.Reader, n int, c Config) error {
	if n > r.Filled {
		return fmt.Errorf("%d episodes that met their limit are saved, of %d rows", n, r.Filled)
	}
	r.limits = r.limits[:0]
	for before := -1; len(r.limits) < n; {
		var row uint32
		if err := binary.Read(in, binary.LittleEndian, &row); err != nil {
			return err
		}
		if int(row) <= before || int(row) >= r.Filled {
			return fmt.Errorf("row %d met its limit, of %d", row, r.Filled)
		}
		before = int(row)
		l := limit{before, make([]float32, c.numbers()), make([]byte, c.frame())}
		if err := binary.Read(in, binary.LittleEndian, l.obs); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, l.frame); err != nil {
			return err
		}
		r.limits = append(r.limits, l)
	}
	return nil
}

// SavePolicy writes what acting needs, in the format of nn.Save.
func (x *Agent) SavePolicy(w io.Writer) error {
	if err := plan.Save(x.dev, w, x.nets.policyParams()); err != nil {
		return fmt.Errorf("save policy: %w", err)
	}
	return nil
}

// LoadPolicy reads what SavePolicy wrote and leaves the rest of the agent unchanged.
func (x *Agent) LoadPolicy(r io.Reader) error {
	if err := plan.Load(x.dev, r, x.nets.policyParams()); err != nil {
		return fmt.Errorf("load policy: %w", err)
	}
	return nil
}
