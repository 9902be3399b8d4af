package ptx

import "math/bits"

// lowerAtomic is atom and red. Lanes act one after another in order; on a card the order
// is arbitrary.
func lowerAtomic(l *lowering, s *statement, m *mods) {
	m.drop("noftz")
	op := m.one("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
	dependent := l.k.dependent
	a := l.accessOf(m)
	l.k.dependent = dependent
	args := s.args
	in := blank(classDo)
	in.d = srScratch
	if s.op == "atom" {
		if len(args) == 0 {
			l.fail("atom has no operands")
		}
		in.d = l.dest(args[0], a.kind)
		args = args[1:]
	}
	n := 2
	if op == "cas" {
		n = 3
	}
	f := combine(op, a.kind)
	if len(args) != n || a.count != 1 || a.kind.bytes() < 4 || f == nil && op != "cas" || a.kind.float() && op != "add" && op != "exch" {
		l.fail("unknown opcode %s", s.text)
	}
	in.b = l.value(args[1], a.kind)
	if op == "cas" {
		in.c = l.value(args[2], a.kind)
	}
	l.reachOf(&in, args[0], a)
	if in.mem.space != shared {
		l.k.dependent = true // blocks may meet there
	}
	size, e := a.kind.bytes(), extend(a.kind)
	in.do = func(w *warp, in *inst, at uint32) error {
		address, b := *w.at(in.a), *w.at(in.b)
		var c vec
		if op == "cas" {
			c = *w.at(in.c)
		}
		for m := at; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			p, err := w.reach(in, &in.mem, lane, address[lane]+in.mem.off, size, updates)
			if err != nil {
				return err
			}
			old := read(p, size)
			switch {
			case op != "cas":
				write(p, size, f(e(old), e(b[lane])))
			case old == b[lane]:
				write(p, size, c[lane])
			}
			w.regs[in.d][lane] = old
		}
		return nil
	}
	l.emit(in)
}
