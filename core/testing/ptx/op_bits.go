package ptx

// lowerLogic is and, or, xor and not, of registers and of predicates.
func lowerLogic(l *lowering, s *statement, m *mods) {
	k := l.plain(m.kind())
	if k == pred {
		lowerPredicates(l, s)
		return
	}
	switch s.op {
	case "not":
		l.compute(each1(k, k.bits(), func(x uint64) uint64 { return ^x }), k, k)
	case "and":
		l.compute(func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] & b[i]
			}
		}, k, k, k)
	case "or":
		l.compute(func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] | b[i]
			}
		}, k, k, k)
	default:
		l.compute(func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] ^ b[i]
			}
		}, k, k, k)
	}
}

// lowerPredicates joins predicates: all lanes at once.
func lowerPredicates(l *lowering, s *statement) {
	two := s.op == "and" || s.op == "or" || s.op == "xor"
	if two {
		l.need(3)
	} else {
		l.need(2)
	}
	in := blank(classDo)
	in.q = l.predicate(s.args[0])
	l.condition(&in, s.args[1])
	second := in
	if two {
		l.condition(&second, s.args[2])
	}
	r2, not2, op := second.r, second.rNot, s.op
	in.do = func(w *warp, in *inst, at uint32) error {
		x, y := w.condition(in.r, in.rNot), w.condition(r2, not2)
		switch op {
		case "and":
			x &= y
		case "or":
			x |= y
		case "xor":
			x ^= y
		case "not":
			x = ^x
		}
		w.setPredicate(in.q, x, at)
		return nil
	}
	l.emit(in)
}

// lowerShift is shl and shr: a count at or over the width gives zeros, or the
// sign.
func lowerShift(l *lowering, s *statement, m *mods) {
	k := m.kind()
	n := uint64(k.bits())
	w := mask(int(n))
	var f alu
	switch {
	case s.op == "shl":
		f = func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] << min(uint64(uint32(b[i])), 64) & w
			}
		}
	case k.signed():
		e := extend(k)
		f = func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = uint64(int64(e(a[i]))>>min(uint64(uint32(b[i])), 63)) & w
			}
		}
	default:
		f = func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = a[i] >> min(uint64(uint32(b[i])), 64)
			}
		}
	}
	l.compute(f, k, k, u32)
}

// lowerExtract is bfe: len bits of a from bit pos on, with the sign of the last
// one for signed types.
func lowerExtract(l *lowering, _ *statement, m *mods) {
	k := l.arithmetic(m.kind())
	e, n := extend(k), uint64(k.bits())
	l.compute(func(d, a, b, c *vec) {
		for i := range d {
			pos, length, x := b[i]&255, c[i]&255, e(a[i])
			var r uint64
			if k.signed() {
				last := min(pos+length-1, n-1)
				sign := uint64(0)
				if length > 0 {
					sign = -(x >> last & 1)
				}
				r = sign
				if pos < n && length > 0 {
					kept := mask(int(min(length, n-pos)))
					r = x>>pos&kept | sign&^kept
				}
			} else if pos < n {
				r = x >> pos & mask(int(min(length, 64)))
			}
			d[i] = r & mask(int(n))
		}
	}, k, k, u32, u32)
}
