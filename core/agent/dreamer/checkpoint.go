package dreamer

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/plan"
	"pgrlab/core/version"
)

// magic begins a saved agent; the digit is the version of the format.
const magic = "PGRM1\n"

// counters are what random numbers depend on, the range of returns, and the update under way: an agent that
// loads them makes again what was done of it.
type counters struct {
	Updates uint64
	Returns span
	Within  uint8
	Rates   rates
}

// Save writes everything that learning depends on.
func (x *Agent) Save(w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	c := counters{Updates: x.updates, Returns: x.returns}
	if x.now.active {
		c.Within, c.Rates = 1, x.now.rates
	}
	if err := binary.Write(w, binary.LittleEndian, c); err != nil {
		return err
	}
	if err := plan.Save(x.dev, w, x.nets.state()); err != nil {
		return err
	}
	if err := x.optimiser.Save(w); err != nil {
		return err
	}
	return x.memory.save(w)
}

// Load reads what Save wrote for the same configuration; learning goes on as if it had not stopped. It reads no
// byte beyond. On an error the agent must not be used any further.
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
	x.updates, x.returns, x.now = c.Updates, c.Returns, progress{active: c.Within > 0, rates: c.Rates}
	if err := plan.Load(x.dev, in, x.nets.state()); err != nil {
		return err
	}
	if err := x.optimiser.Load(in); err != nil {
		return err
	}
	return x.memory.load(in)
}

// save writes which sequences were learned from, and the latents.
func (r *memory) save(w io.Writer) error {
	if err := binary.Write(w, binary.LittleEndian, r.fresh); err != nil {
		return err
	}
	for i := range r.latents {
		l := &r.latents[i]
		if err := binary.Write(w, binary.LittleEndian, [2]uint64{l.first, uint64(len(l.chunks))}); err != nil {
			return err
		}
		for _, c := range l.chunks {
			if err := binary.Write(w, binary.LittleEndian, c.deter); err != nil {
				return err
			}
			if _, err := w.Write(c.class); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads what save wrote.
func (r *memory) load(in io.Reader) error {
	if err := binary.Read(in, binary.LittleEndian, r.fresh); err != nil {
		return err
	}
	for i := range r.latents {
		l, head := &r.latents[i], [2]uint64{}
		if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
			return err
		}
		if head[0]%chunkLooks != 0 || head[1] > 2+mostSeen/chunkLooks {
			return fmt.Errorf("latents of %d parts from look %d on are saved", head[1], head[0])
		}
		l.first, l.chunks = head[0], nil
		for range head[1] {
			c := chunk{make([]int16, chunkLooks*l.deter), make([]uint8, chunkLooks*l.groups)}
			if err := binary.Read(in, binary.LittleEndian, c.deter); err != nil {
				return err
			}
			if _, err := io.ReadFull(in, c.class); err != nil {
				return err
			}
			for _, k := range c.class {
				if int(k) > l.classes {
					return fmt.Errorf("class %d of %d is saved", k, l.classes)
				}
			}
			l.chunks = append(l.chunks, c)
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
