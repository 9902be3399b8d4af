package ptx

import "math/bits"

// lowerShuffle is shfl.sync: each lane gets a value of another one.
func lowerShuffle(l *lowering, s *statement, m *mods) {
	if !m.take("sync") {
		l.fail("shfl without .sync does not exist on sm_70 and later")
	}
	mode := m.one("up", "down", "bfly", "idx")
	k := m.kind()
	if mode == "" || k != b32 {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(5)
	in := blank(classWarp)
	d := s.args[0]
	if d.pair != nil {
		in.q = l.predicate(*d.pair)
		d.pair = nil
	}
	in.d = l.dest(d, k)
	in.a, in.b = l.value(s.args[1], k), l.value(s.args[2], b32)
	in.ins = []slot{l.value(s.args[3], b32)}
	in.c = l.value(s.args[4], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		var t vec
		var valid uint32
		a, b, c := w.at(in.a), w.at(in.b), w.at(in.ins[0])
		for i := range lanes {
			j, ok := shuffleSource(mode, i, int(b[i]), int(c[i]))
			if ok {
				valid |= 1 << i
			}
			t[i] = garbage32 // value of a lane that does not take part
			if at>>j&1 != 0 {
				t[i] = a[j]
			}
		}
		w.put(in.d, &t, at)
		w.setPredicate(in.q, valid, at)
		return nil
	}
	l.emit(in)
}

const garbage32 = 0xffffffff

// shuffleSource returns the lane that lane i reads, and whether it is in range. b is the
// lane or distance, c the clamp and segment mask (PTX ISA, shfl).
func shuffleSource(mode string, i, b, c int) (int, bool) {
	b, clamp, segment := b&31, c&31, c>>8&31
	most := i&segment | clamp&^segment
	least := i & segment
	var j int
	var ok bool
	switch mode {
	case "up":
		j = i - b
		ok = j >= most
	case "down":
		j = i + b
		ok = j <= most
	case "bfly":
		j = i ^ b
		ok = j <= most
	default:
		j = least | b&^segment
		ok = j <= most
	}
	if !ok {
		j = i
	}
	return j, ok
}

// lowerVote is vote.sync: a combination of the lanes' predicates.
func lowerVote(l *lowering, s *statement, m *mods) {
	if !m.take("sync") {
		l.fail("vote without .sync does not exist on sm_70 and later")
	}
	mode := m.one("all", "any", "uni", "ballot")
	k := m.kind()
	if mode == "" || (mode == "ballot") != (k == b32) || mode != "ballot" && k != pred {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(3)
	in := blank(classWarp)
	if mode == "ballot" {
		in.d = l.dest(s.args[0], k)
	} else {
		in.q = l.predicate(s.args[0])
	}
	l.condition(&in, s.args[1])
	in.c = l.value(s.args[2], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		p := w.condition(in.r, in.rNot) & at
		var yes bool
		switch mode {
		case "ballot":
			w.spread(in.d, uint64(p), at)
			return nil
		case "all":
			yes = p == at
		case "any":
			yes = p != 0
		case "uni":
			yes = p == at || p == 0
		}
		if yes {
			p = full
		} else {
			p = 0
		}
		w.setPredicate(in.q, p, at)
		return nil
	}
	l.emit(in)
}

// spread sets one value in all lanes of a group.
func (w *warp) spread(d slot, x uint64, at uint32) {
	for m := at; m != 0; m &= m - 1 {
		w.regs[d][bits.TrailingZeros32(m)&31] = x
	}
}

// lowerMatch is match.sync: which lanes hold the same value.
func lowerMatch(l *lowering, s *statement, m *mods) {
	all := m.one("any", "all") == "all"
	m.take("sync")
	k := m.kind()
	l.need(3)
	in := blank(classWarp)
	d := s.args[0]
	if d.pair != nil {
		in.q = l.predicate(*d.pair)
		d.pair = nil
	}
	in.d, in.a, in.c = l.dest(d, b32), l.value(s.args[1], k), l.value(s.args[2], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		a := *w.at(in.a)
		var every uint32
		for m := at; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			var same uint32
			for n := at; n != 0; n &= n - 1 {
				if j := bits.TrailingZeros32(n); a[j] == a[i] {
					same |= 1 << j
				}
			}
			if same == at {
				every = full
			} else if all {
				same = 0
			}
			w.regs[in.d][i] = uint64(same)
		}
		w.setPredicate(in.q, every, at)
		return nil
	}
	l.emit(in)
}

// lowerRedux is redux.sync: one integer operation over all lanes.
func lowerRedux(l *lowering, s *statement, m *mods) {
	m.take("sync")
	op := m.one("add", "min", "max", "and", "or", "xor")
	k := m.kind()
	l.requires(80)
	f := combine(op, k)
	if f == nil || k.bits() != 32 || k.float() {
		l.fail("unknown opcode %s", l.s.text)
	}
	e := extend(k)
	l.need(3)
	in := blank(classWarp)
	in.d, in.a, in.c = l.dest(s.args[0], k), l.value(s.args[1], k), l.value(s.args[2], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		a := w.at(in.a)
		first := bits.TrailingZeros32(at)
		r := e(a[first])
		for m := at &^ (1 << first); m != 0; m &= m - 1 {
			r = f(r, e(a[bits.TrailingZeros32(m)]))
		}
		w.spread(in.d, r&mask(32), at)
		return nil
	}
	l.emit(in)
}

// combine returns an operation of atom and redux on extended values, nil if there is none.
func combine(op string, k kind) func(x, y uint64) uint64 {
	switch op {
	case "add":
		switch k {
		case f32:
			return func(x, y uint64) uint64 { return fromSingle(single(x) + single(y)) }
		case f64:
			return func(x, y uint64) uint64 { return fromDouble(double(x) + double(y)) }
		case f16, bf16, f16x2, bf16x2, tf32:
			return nil
		}
		return func(x, y uint64) uint64 { return x + y }
	case "min":
		return smaller(k)
	case "max":
		return larger(k)
	case "and":
		return func(x, y uint64) uint64 { return x & y }
	case "or":
		return func(x, y uint64) uint64 { return x | y }
	case "xor":
		return func(x, y uint64) uint64 { return x ^ y }
	case "exch":
		return func(_, y uint64) uint64 { return y }
	case "inc":
		return func(x, y uint64) uint64 {
			if x >= y {
				return 0
			}
			return x + 1
		}
	case "dec":
		return func(x, y uint64) uint64 {
			if x == 0 || x > y {
				return y
			}
			return x - 1
		}
	}
	return nil
}

// lowerActive is activemask: the lanes that run together at this moment.
func lowerActive(l *lowering, s *statement, m *mods) {
	m.drop("b32")
	l.need(1)
	in := blank(classDo)
	in.d = l.dest(s.args[0], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		w.spread(in.d, uint64(at), at)
		return nil
	}
	l.emit(in)
}

// lowerElect is elect.sync: one lane of many.
func lowerElect(l *lowering, s *statement, m *mods) {
	m.take("sync")
	l.requires(90)
	l.need(2)
	in := blank(classWarp)
	d := s.args[0]
	if d.pair == nil {
		l.fail("elect gives a register and a predicate")
	}
	in.q = l.predicate(*d.pair)
	d.pair = nil
	in.d, in.c = l.dest(d, b32), l.value(s.args[1], b32)
	in.do = func(w *warp, in *inst, at uint32) error {
		w.spread(in.d, uint64(bits.TrailingZeros32(at)), at)
		w.setPredicate(in.q, at&-at, at)
		return nil
	}
	l.emit(in)
}
