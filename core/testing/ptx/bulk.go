package ptx

import "math/bits"

// bulkAlign is what the addresses and the size of a bulk copy are multiples of.
const bulkAlign = 16

// bulkCopy is a cp.async.bulk on its way. It reads its source when it arrives.
type bulkCopy struct {
	to     int // shared address
	from   []byte
	thread int32 // +1
	in     *inst
}

// bulkSource is how a bulk copy reaches its source and its mbarrier.
type bulkSource struct {
	source, barrier access
}

// lowerBulk is cp.async.bulk of one dimension, from global to shared memory.
func lowerBulk(l *lowering, s *statement, m *mods) {
	l.requires(90)
	if !m.take("shared::cluster") || !m.take("global") || !m.take("mbarrier::complete_tx::bytes") {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(4)
	in := blank(classDo)
	var x bulkSource
	l.reachOf(&in, s.args[3], access{space: shared, kind: b64, count: 1})
	x.barrier, in.ins = in.mem, []slot{in.a}
	l.reachOf(&in, s.args[1], access{space: global, kind: b128, count: 1})
	x.source, in.b = in.mem, in.a
	l.reachOf(&in, s.args[0], access{space: shared, kind: b128, count: 1})
	in.c = l.value(s.args[2], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		for m := at; m != 0; m &= m - 1 {
			if err := w.startBulk(in, &x, bits.TrailingZeros32(m)); err != nil {
				return err
			}
		}
		return nil
	}
	l.emit(in)
}

// startBulk checks the copy of a lane. It arrives when somebody waits for its mbarrier.
func (w *warp) startBulk(in *inst, x *bulkSource, lane int) error {
	to, from, size := w.at(in.a)[lane]+in.mem.off, w.at(in.b)[lane]+x.source.off, w.at(in.c)[lane]
	barrier := w.at(in.ins[0])[lane] + x.barrier.off
	if to%bulkAlign != 0 || from%bulkAlign != 0 || size%bulkAlign != 0 || size == 0 {
		return w.fault(in, 1<<lane, "a bulk copy of %d bytes from %#x to shared address %#x: all three must be multiples of %d", size, from, to, bulkAlign)
	}
	m, err := w.mbarrierAt(in, lane, barrier)
	if err != nil {
		return err
	}
	if size > maxExpectedBytes || m.onTheWay+int(size) > maxExpectedBytes {
		return w.fault(in, 1<<lane, "%d bytes are on their way for the mbarrier at shared address %d, and %d more: it counts at most %d", m.onTheWay, barrier, size, maxExpectedBytes)
	}
	p, err := w.reachGlobal(in, &x.source, lane, from, int(size), reads)
	if err != nil {
		return err
	}
	if _, err := w.reachShared(in, lane, to, int(size), starts); err != nil {
		return err
	}
	m.copies = append(m.copies, bulkCopy{to: int(to), from: p, thread: int32(w.index*lanes + lane + 1), in: in})
	m.onTheWay += int(size)
	w.block.mbarriers.events++
	return nil
}

// deliver lets all copies of an mbarrier arrive.
func (b *block) deliver(m *mbarrier) {
	by := agent(firstCopier + m.number%copiers)
	if b.shadow != nil {
		m.arriving[by] = b.shadow.nextCopy(by)
	}
	for i := range m.copies {
		c := &m.copies[i]
		copy(b.shared[c.to:], c.from)
		if b.shadow != nil {
			b.shadow.landBulk(c, by)
		}
	}
	m.bytes -= m.onTheWay
	m.copies, m.onTheWay = m.copies[:0], 0
	m.advance()
	b.mbarriers.events++
}

// nextCopy returns the next stamp of the bulk copies of an mbarrier.
func (s *shadow) nextCopy(by agent) uint32 {
	s.copied[by-firstCopier]++
	return s.copied[by-firstCopier]
}

// landBulk records that a bulk copy has arrived: those may read it who wait for its mbarrier.
func (s *shadow) landBulk(c *bulkCopy, by agent) {
	for i := c.to / s.granule; i <= (c.to+len(c.from)-1)/s.granule; i++ {
		x := &s.cells[i]
		*x = cell{writer: c.thread, writeAt: c.in.line, by: by, wrote: s.copied[by-firstCopier], pending: x.pending}
	}
}

// checkBulk rejects the end of a block with copies on their way.
func (b *block) checkBulk() error {
	for _, m := range b.mbarriers.order {
		if len(m.copies) > 0 {
			c := &m.copies[0]
			w := &b.warps[int(c.thread-1)/lanes]
			return w.fault(c.in, 1<<(int(c.thread-1)%lanes), "the kernel ends with this copy on its way: nobody has waited for its mbarrier")
		}
	}
	return nil
}
