package sac

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// rings are copies of D_real and D_syn in a device's memory, from which the device samples
// batches.
type rings struct {
	dev    device.Sequencer
	shape  replay.Shape
	copies [2]copied
	mix    device.Mix
	// changed counts the stores that were allocated. A program that samples from a store
	// that has been replaced since is compiled again.
	changed int
}

// copied is a ring in a device's memory.
type copied struct {
	store device.Store // nil before there is one
	rows  int          // that the store has room for
	ring  *replay.Ring // whose rows the store holds
	total uint64       // ring.Total() when the store last followed the ring
	lost  int          // store.Lost() at that time
}

// reserve makes sure that a store has room for that many rows.
func (r *rings) reserve(i, rows int) error {
	c := &r.copies[i]
	if c.rows >= rows {
		return nil
	}
	if c.store != nil {
		if err := c.store.Close(); err != nil {
			return err
		}
	}
	*c = copied{}
	r.changed++
	var err error
	if c.store, err = r.dev.Store(rows, r.shape.Width()); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// follow copies to the device what was added to the rings of a source, and sets its mix.
func (r *rings) follow(from agent.BatchSource) error {
	for i, ring := range []*replay.Ring{from.Real, from.Synthetic} {
		if err := r.followRing(i, ring); err != nil {
			return err
		}
	}
	r.mix.First = from.Mix.Real
	return checkMix(from.Mix, r.mix.Held[0], r.mix.Held[1])
}

// followRing copies to the device what was added to a ring, or the whole ring if the device
// holds another one or has lost the rows.
func (r *rings) followRing(i int, ring *replay.Ring) error {
	r.mix.Held[i] = 0
	if ring == nil || ring.Len() == 0 {
		return nil
	}
	r.mix.Held[i] = ring.Len()
	c := &r.copies[i]
	if ring.Len() > c.rows {
		if err := r.reserve(i, ring.Cap()); err != nil {
			return err
		}
	}
	fresh, lost := ring.Total()-c.total, c.store.Lost()
	if c.ring != ring || c.lost != lost || ring.Total() < c.total || fresh > uint64(ring.Len()) {
		for slot := 0; slot < ring.Len(); {
			rows := ring.Span(slot)
			if err := c.store.Put(slot, rows); err != nil {
				return err
			}
			slot += len(rows) / r.shape.Width()
		}
	} else {
		for age := int(fresh) - 1; age >= 0; age-- {
			if slot := ring.Newest(age); slot < ring.Len() {
				if err := c.store.Put(slot, ring.Row(slot)); err != nil {
					return err
				}
			}
		}
	}
	c.ring, c.total, c.lost = ring, ring.Total(), lost
	return nil
}

// checkMix returns an error unless there are rows to sample batches of a mix from.
func checkMix(mix replay.Mix, real, synthetic int) error {
	switch {
	case mix.Real < 0 || mix.Synthetic < 0:
		return fmt.Errorf("a batch of %d + %d rows", mix.Real, mix.Synthetic)
	case real == 0 && mix.Real > 0 || synthetic == 0 && mix.Synthetic > 0:
		return fmt.Errorf("a batch of %d + %d rows from %d and %d", mix.Real, mix.Synthetic, real, synthetic)
	}
	return nil
}

// program compiles the program that samples batches for an updater.
func (r *rings) program(u *updater, m replay.Mixer) (*plan.Program, error) {
	o, a := r.shape.Obs, r.shape.Act
	d := plan.SampleBatch{
		Streams: m.Streams(), Width: r.shape.Width(), Mix: &r.mix,
		Into: []plan.Into{{To: u.obs}, {To: u.act, First: o}, {To: u.reward, First: o + a}, {To: u.next, First: o + a + 1}, {To: u.done, First: 2*o + a + 1}},
	}
	for i, c := range r.copies {
		if c.store != nil {
			d.From[i] = c.store
		}
	}
	p, err := plan.CompileRoutine("sample", d, r.dev)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return p, nil
}

// Close frees the device's memory; it does nothing with nil rings.
func (r *rings) Close() (err error) {
	if r == nil {
		return nil
	}
	for i := range r.copies {
		if c := &r.copies[i]; c.store != nil {
			if e := c.store.Close(); e != nil && err == nil {
				err = fmt.Errorf("agent: %w", e)
			}
			*c = copied{}
		}
	}
	return err
}

// Fused says whether the device samples the batches itself and makes all updates of an
// env step in one launch. Prepare, or an update from larger rings, may find that the device lacks
// the memory for that.
func (s *Agent) Fused() bool { return s.rings != nil }
