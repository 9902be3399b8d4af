package agent

import (
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// feed is what a device samples batches from: copies of both rings in its memory.
type feed struct {
	dev    device.Sequencer
	shape  replay.Shape
	copies [2]copied
	mix    device.Mix
	// changed counts the stores that were taken: programs that sample from another one
	// than there is now are compiled anew.
	changed int
}

// copied is a ring in a device's memory.
type copied struct {
	store device.Store // nil: none yet
	rows  int          // that it has room for
	ring  *replay.Ring // that it holds
	total uint64       // of the ring's rows when it was last looked at
	lost  int          // of the store, then
}

// reserve makes sure that a store has room for so many rows.
func (f *feed) reserve(i, rows int) error {
	c := &f.copies[i]
	if c.rows >= rows {
		return nil
	}
	if c.store != nil {
		if err := c.store.Close(); err != nil {
			return err
		}
	}
	*c = copied{}
	f.changed++
	var err error
	if c.store, err = f.dev.Store(rows, f.shape.Width()); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// follow brings the device what was added to a ring; everything, if it is another ring
// or the device has lost the rows.
func (f *feed) follow(i int, ring *replay.Ring) error {
	f.mix.Held[i] = 0
	if ring == nil || ring.Len() == 0 {
		return nil
	}
	f.mix.Held[i] = ring.Len()
	c := &f.copies[i]
	if ring.Len() > c.rows {
		if err := f.reserve(i, ring.Cap()); err != nil {
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
			slot += len(rows) / f.shape.Width()
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

// program samples batches for an updater.
func (f *feed) program(u *updater, m replay.Mixer) (*plan.Program, error) {
	o, a := f.shape.Obs, f.shape.Act
	d := plan.Draw{
		Streams: m.Streams(), Width: f.shape.Width(), Mix: &f.mix,
		Into: []plan.Into{{To: u.obs}, {To: u.act, First: o}, {To: u.reward, First: o + a}, {To: u.next, First: o + a + 1}, {To: u.done, First: 2*o + a + 1}},
	}
	for i, c := range f.copies {
		if c.store != nil {
			d.From[i] = c.store
		}
	}
	p, err := plan.CompileAct("sample", d, f.dev)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return p, nil
}

func (f *feed) close() (err error) {
	for i := range f.copies {
		if c := &f.copies[i]; c.store != nil {
			if e := c.store.Close(); e != nil && err == nil {
				err = fmt.Errorf("agent: %w", e)
			}
			*c = copied{}
		}
	}
	return err
}
