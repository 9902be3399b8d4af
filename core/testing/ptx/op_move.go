package ptx

// lowerMove is mov: of registers, predicates, addresses; also packing and
// unpacking of registers with {}.
func lowerMove(l *lowering, s *statement, m *mods) {
	k := m.kind()
	l.need(2)
	d, a := s.args[0], s.args[1]
	switch {
	case k == pred:
		lowerPredicates(l, &statement{op: "mov", args: s.args, line: s.line})
	case d.kind == opVector:
		unpack(l, d.list, a, k)
	case a.kind == opVector:
		packVector(l, d, a.list, k)
	default:
		l.compute(copyLanes, k, k)
	}
}

func unpack(l *lowering, d []operand, a operand, k kind) {
	n := k.bits() / max(len(d), 1)
	in := blank(classDo)
	in.a = l.value(a, k)
	for _, o := range d {
		in.outs = append(in.outs, l.dest(o, bitsKind(l, n)))
	}
	in.do = func(w *warp, in *inst, at uint32) error {
		a := *w.at(in.a)
		var t vec
		for j, d := range in.outs {
			for i := range t {
				t[i] = a[i] >> (n * j) & mask(n)
			}
			w.put(d, &t, at)
		}
		return nil
	}
	l.emit(in)
}

func packVector(l *lowering, d operand, a []operand, k kind) {
	n := k.bits() / max(len(a), 1)
	in := blank(classDo)
	in.d = l.dest(d, k)
	for _, o := range a {
		in.ins = append(in.ins, l.value(o, bitsKind(l, n)))
	}
	in.do = func(w *warp, in *inst, at uint32) error {
		var t vec
		for j, a := range in.ins {
			v := w.at(a)
			for i := range t {
				t[i] |= v[i] << (n * j)
			}
		}
		w.put(in.d, &t, at)
		return nil
	}
	l.emit(in)
}

func bitsKind(l *lowering, n int) kind {
	switch n {
	case 8:
		return b8
	case 16:
		return b16
	case 32:
		return b32
	}
	l.fail("a vector of parts of %d bits", n)
	return noKind
}

// lowerCvta turns an address of a space into a generic one or back.
func lowerCvta(l *lowering, s *statement, m *mods) {
	to := m.take("to")
	var window uint64
	switch sp := m.one("global", "const", "shared", "shared::cta", "local", "param"); sp {
	case "shared", "shared::cta":
		window = sharedWindow
	case "local":
		window = localWindow
	case "param":
		window = paramWindow
	case "":
		l.fail("cvta needs a state space")
	}
	k := m.kind()
	if to {
		window = -window
	}
	in := l.compute(addConstant(window), k, k)
	if window == 0 {
		in.alu = copyLanes
	}
}

func addConstant(c uint64) alu {
	return func(d, a, _, _ *vec) {
		for i := range d {
			d[i] = a[i] + c
		}
	}
}
