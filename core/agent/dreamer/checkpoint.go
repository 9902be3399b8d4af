package dreamer

import (
	"fmt"
	"io"

	"pgrlab/core/plan"
)

// counters are what random numbers depend on, the range of returns, and the update under way: an agent that
// loads them makes again what was done of it.
type counters struct {
	Updates uint64
	Returns span
	Within  bool
	Rates   rates
}

// parts are everything that learning depends on but the latents, in the order of a file.
func (x *Agent) parts(c *counters) []any {
	return []any{c, plan.Tensors{Device: x.dev, Of: x.nets.state()}, x.optimiser, x.memory.fresh}
}

// Save writes everything that learning depends on.
func (x *Agent) Save(w io.Writer) error {
	c := counters{Updates: x.updates, Returns: x.returns}
	if x.now.active {
		c.Within, c.Rates = true, x.now.rates
	}
	parts := x.parts(&c)
	for _, l := range x.memory.latents {
		parts = append(parts, latentsHead{l.first, uint64(len(l.chunks))})
		for _, c := range l.chunks {
			parts = append(parts, c.deter, c.class)
		}
	}
	return plan.SaveAll(w, parts...)
}

// Load reads what Save wrote for the same configuration; learning goes on as if it had not stopped. It reads no
// byte beyond. On an error the agent must not be used any further.
func (x *Agent) Load(in io.Reader) error {
	var c counters
	if err := plan.LoadAll(in, x.parts(&c)...); err != nil {
		return err
	}
	x.updates, x.returns, x.now = c.Updates, c.Returns, progress{active: c.Within, rates: c.Rates}
	for i := range x.memory.latents {
		if err := x.memory.latents[i].load(in); err != nil {
			return err
		}
	}
	return nil
}

// latentsHead begins saved latents of a copy.
type latentsHead struct{ First, Chunks uint64 }

func (l *latents) load(in io.Reader) error {
	var head latentsHead
	if err := plan.LoadAll(in, &head); err != nil {
		return err
	}
	if head.First%chunkLooks != 0 || head.Chunks > 2+mostSeen/chunkLooks {
		return fmt.Errorf("latents of %d parts from look %d on are saved", head.Chunks, head.First)
	}
	l.first, l.chunks = head.First, nil
	for range head.Chunks {
		c := chunk{make([]int16, chunkLooks*l.deter), make([]uint8, chunkLooks*l.groups)}
		if err := plan.LoadAll(in, c.deter, c.class); err != nil {
			return err
		}
		for _, k := range c.class {
			if int(k) > l.classes {
				return fmt.Errorf("class %d of %d is saved", k, l.classes)
			}
		}
		l.chunks = append(l.chunks, c)
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
