package lab

import (
	"context"
	"sync/atomic"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// parts makes what a run consists of. New uses the real ones; tests use a scripted world.
type parts struct {
	replica.Parts                 // for members that have the device to themselves
	shared        []replica.Parts // by member, if some compute side by side; else nil
	turns         []int           // how many members each turn has; nil: one each
	lend          func(all bool)  // Lend of a device.Divider; nil: the shared parts keep workers of their own
	device        parker          // to be given back while the run waits; nil: there is no need
	files         []event.Data    // from which Recorded was read
}

// newParts returns the real parts, on a device. If the device has several workers, as many
// members may compute side by side, one worker each; a last turn of fewer members has more
// workers each.
func newParts(c *config.Config, task task.Task, dev device.Device) (parts, error) {
	whole, err := replica.NewParts(c, task, dev)
	p := parts{Parts: whole, device: parkerOf(dev)}
	d, can := dev.(device.Divider)
	if err != nil || !can || d.Workers() == 1 || c.Members == 1 {
		return p, err
	}
	p.lend = d.Lend
	for left := c.Members; left > 0; {
		n := min(left, d.Workers())
		for _, part := range d.Divide(n) {
			of, err := replica.NewParts(c, task, part)
			if err != nil {
				return parts{}, err
			}
			p.shared = append(p.shared, of)
		}
		p.turns = append(p.turns, n)
		left -= n
	}
	return p, nil
}

// of returns the parts of a member.
func (p *parts) of(member int) replica.Parts {
	if p.shared == nil {
		return p.Parts
	}
	return p.shared[member]
}

// making is the time in which a run is made. A large one takes minutes: once ctx has ended, no
// further part of it is made.
type making struct {
	ctx  context.Context
	over atomic.Bool // the run is made; parts that it makes later do not depend on ctx
}

// ended is the cause of the end of ctx; nil: it has not ended, or the run is made.
func (m *making) ended() error {
	if m.over.Load() || m.ctx.Err() == nil {
		return nil
	}
	return context.Cause(m.ctx)
}

// done ends the time.
func (m *making) done() { m.over.Store(true) }

// parts returns parts that are not made after the end of ctx.
func (m *making) parts(p parts) parts {
	p.Parts = m.of(p.Parts)
	for i := range p.shared {
		p.shared[i] = m.of(p.shared[i])
	}
	return p
}

func (m *making) of(p replica.Parts) replica.Parts {
	learner, generator, function := p.Learner, p.Generator, p.Relevance
	p.Learner = func(log *experience.Log, seed uint64) (*agent.Made, error) {
		if err := m.ended(); err != nil {
			return nil, err
		}
		return learner(log, seed)
	}
	p.Generator = func(policy agent.Policy, seed uint64) (generative.Generator, error) {
		if err := m.ended(); err != nil {
			return nil, err
		}
		return generator(policy, seed)
	}
	p.Relevance = func(name string, log *experience.Log, values relevance.Values, g generative.Generator, seed uint64) (*relevance.Model, error) {
		if err := m.ended(); err != nil {
			return nil, err
		}
		return function(name, log, values, g, seed)
	}
	return p
}

// task is the same for environments.
func (m *making) task(t task.Task) task.Task {
	one, several := t.New, t.NewVec
	t.New = func(seed uint64) (task.Env, error) {
		if err := m.ended(); err != nil {
			return nil, err
		}
		return one(seed)
	}
	t.NewVec = func(n int, seed uint64) (task.VecEnv, error) {
		if err := m.ended(); err != nil {
			return nil, err
		}
		return several(n, seed)
	}
	return t
}
