package ptx

import "math/bits"

// lowerAtomic is atom.inc.u32: it counts from 0 to a last number and begins again. Lanes act one
// after another in order; on a card the order is arbitrary.
func lowerAtomic(l *lowering, s *statement, m *mods) {
	dependent := l.k.dependent
	inc := m.take("inc")
	a := l.accessOf(m)
	l.k.dependent = dependent
	if !inc || a.kind != u32 || a.count != 1 {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(3)
	in := blank(classDo)
	in.d, in.b = l.dest(s.args[0], u32), l.value(s.args[2], u32)
	l.reachOf(&in, s.args[1], a)
	if in.mem.space != shared {
		l.k.dependent = true // blocks may meet there
	}
	in.do = increment
	l.emit(in)
}

func increment(w *warp, in *inst, at uint32) error {
	address, last := *w.at(in.a), *w.at(in.b)
	for m := at; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		p, err := w.reach(in, &in.mem, lane, address[lane]+in.mem.off, 4, updates)
		if err != nil {
			return err
		}
		old := read(p, 4)
		next := old + 1
		if old >= last[lane] {
			next = 0
		}
		write(p, 4, next)
		w.regs[in.d][lane] = old
	}
	return nil
}
