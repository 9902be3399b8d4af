package ptx

import "math/bits"

// An asyncQueue holds a thread's pending cp.async copies. Their data arrives in shared
// memory when the thread waits for them, as late as a card may deliver it, so that a
// kernel which forgets to wait fails visibly.
type asyncQueue struct {
	copies []asyncCopy
	groups []int // committed: how many copies up to the end of each
}

type asyncCopy struct {
	to   int // shared address
	n    int
	data [16]byte
	in   *inst
}

// lowerAsync is cp.async with its commit and wait instructions.
func lowerAsync(l *lowering, s *statement, m *mods) {
	if !m.take("async") {
		l.fail("unknown opcode %s", s.text)
	}
	l.requires(80)
	switch {
	case m.take("commit_group"):
		l.need(0)
		in := blank(classDo)
		in.do = commitAsync
		l.emit(in)
		return
	case m.take("wait_group"):
		l.need(1)
		if s.args[0].kind != opImmediate {
			l.fail("cp.async.wait_group needs a number")
		}
		in := blank(classDo)
		in.imm = s.args[0].bits
		in.do = waitAsync
		l.emit(in)
		return
	case m.take("wait_all"):
		l.need(0)
		in := blank(classDo)
		in.do = func(w *warp, in *inst, at uint32) error { return w.endAsync(in, at) }
		l.emit(in)
		return
	}
	lowerCopy(l, s, m)
}

// lowerCopy is the copy itself, of 4, 8 or 16 bytes. The source supplies the first of
// them or, if a predicate holds, none; the rest is zero.
func lowerCopy(l *lowering, s *statement, m *mods) {
	level := m.one("ca", "cg")
	if level == "" || m.one("shared", "shared::cta") == "" || !m.take("global") {
		l.fail("unknown opcode %s", s.text)
	}
	m.drop("L2::64B", "L2::128B", "L2::256B")
	if len(s.args) < 3 || len(s.args) > 4 || s.args[2].kind != opImmediate {
		l.fail("cp.async needs two addresses and its size")
	}
	n := s.args[2].bits
	k := map[uint64]kind{4: b32, 8: b64, 16: b128}[n]
	if k == noKind || level == "cg" && n != 16 {
		l.fail("cp.async.%s of %d bytes", level, n)
	}
	in := blank(classDo)
	in.imm = n
	l.reachOf(&in, s.args[1], access{space: global, kind: k, count: 1})
	source, from := in.mem, in.a
	l.reachOf(&in, s.args[0], access{space: shared, kind: k, count: 1})
	in.b = from
	in.c = l.constant(n)
	if len(s.args) == 4 {
		if o := s.args[3]; o.kind == opRegister && o.reg.kind == pred {
			l.condition(&in, o) // ignore the source if it holds
		} else {
			in.c = l.value(o, b32)
		}
	}
	in.do = func(w *warp, in *inst, at uint32) error { return w.startAsync(in, &source, at) }
	l.emit(in)
}

// startAsync reads the source and queues the copy.
func (w *warp) startAsync(in *inst, source *access, at uint32) error {
	to, from, size, ignored := w.at(in.a), w.at(in.b), w.at(in.c), w.condition(in.r, in.rNot)
	n := int(in.imm)
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		address := to[lane] + in.mem.off
		if _, err := w.reach(in, &in.mem, lane, address, n, starts); err != nil {
			return err
		}
		c := asyncCopy{to: int(address), n: n, in: in}
		take := int(size[lane])
		if ignored>>lane&1 != 0 {
			take = 0
		}
		if take > n {
			return w.fault(in, 1<<lane, "cp.async of %d bytes takes %d from its source", n, take)
		}
		if take > 0 {
			p, err := w.reachPart(in, source, lane, from[lane]+source.off, n, take)
			if err != nil {
				return err
			}
			copy(c.data[:], p)
		}
		w.queue[lane].copies = append(w.queue[lane].copies, c)
	}
	return nil
}

// reachPart returns the first bytes of a source that is aligned to n.
func (w *warp) reachPart(in *inst, a *access, lane int, address uint64, n, take int) ([]byte, error) {
	if address&uint64(n-1) != 0 {
		return nil, w.fault(in, 1<<lane, "global address %#x is not a multiple of %d, the bytes of the access", address, n)
	}
	return w.reachGlobal(in, a, lane, address, take, reads)
}

func commitAsync(w *warp, _ *inst, at uint32) error {
	for m := at; m != 0; m &= m - 1 {
		q := &w.queue[pick(m)]
		q.groups = append(q.groups, len(q.copies))
	}
	return nil
}

// waitAsync completes all groups but the latest in.imm.
func waitAsync(w *warp, in *inst, at uint32) error {
	for m := at; m != 0; m &= m - 1 {
		lane := pick(m)
		q := &w.queue[lane]
		done := len(q.groups) - int(min(in.imm, uint64(len(q.groups))))
		if done == 0 {
			continue
		}
		n := q.groups[done-1]
		w.land(lane, n)
		q.groups = append(q.groups[:0], q.groups[done:]...)
		for i := range q.groups {
			q.groups[i] -= n
		}
	}
	return nil
}

// endAsync completes all copies of some lanes.
func (w *warp) endAsync(_ *inst, at uint32) error {
	for m := at; m != 0; m &= m - 1 {
		lane := pick(m)
		if q := &w.queue[lane]; len(q.copies) > 0 || len(q.groups) > 0 {
			w.land(lane, len(q.copies))
			q.groups = q.groups[:0]
		}
	}
	return nil
}

// land writes the first n copies of a lane to shared memory.
func (w *warp) land(lane, n int) {
	b, q := w.block, &w.queue[lane]
	for i := range q.copies[:n] {
		c := &q.copies[i]
		copy(b.shared[c.to:], c.data[:c.n])
		if b.shadow != nil {
			b.shadow.land(w, lane, c)
		}
	}
	q.copies = append(q.copies[:0], q.copies[n:]...)
}
