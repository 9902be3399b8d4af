package ptx

import "math/bits"

// lowerLogic is and, or, xor, not and cnot, of registers and of predicates.
func lowerLogic(l *lowering, s *statement, m *mods) {
	k := l.plain(m.kind())
	if k == pred {
		lowerPredicates(l, s)
		return
	}
	switch s.op {
	case "not":
		l.compute(each1(k, k.bits(), func(x uint64) uint64 { return ^x }), k, k)
	case "cnot":
		l.compute(each1(k, k.bits(), func(x uint64) uint64 {
			if x == 0 {
				return 1
			}
			return 0
		}), k, k)
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
		case "not", "cnot":
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

// lowerFunnel is shf: a shift of the 64 bits b:a, of which 32 are kept.
func lowerFunnel(l *lowering, _ *statement, m *mods) {
	left := m.one("l", "r") == "l"
	clamp := m.one("clamp", "wrap") == "clamp"
	k := m.kind()
	l.compute(each3(b32, 32, func(a, b, c uint64) uint64 {
		if clamp {
			c = min(c, 32)
		} else {
			c &= 31
		}
		if left {
			return (b<<32 | a) << c >> 32
		}
		return (b<<32 | a) >> c
	}), k, k, k, u32)
}

// lowerCount is popc and clz.
func lowerCount(l *lowering, s *statement, m *mods) {
	k := l.plain(m.kind())
	if s.op == "popc" {
		l.compute(each1(k, 32, func(x uint64) uint64 { return uint64(bits.OnesCount64(x)) }), u32, k)
		return
	}
	n := k.bits()
	l.compute(each1(k, 32, func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x) - 64 + n) }), u32, k)
}

// lowerFind is bfind: the position of the highest bit that differs from the sign, all
// ones if there is none.
func lowerFind(l *lowering, _ *statement, m *mods) {
	shift := m.take("shiftamt")
	k := l.arithmetic(m.kind())
	n := k.bits()
	l.compute(each1(k, 32, func(x uint64) uint64 {
		if k.signed() && int64(x) < 0 {
			x = ^x
		}
		at := bits.Len64(x) - 1
		if at >= 0 && shift {
			at = n - 1 - at
		}
		return uint64(int64(at))
	}), u32, k)
}

func lowerReverse(l *lowering, _ *statement, m *mods) {
	k := l.plain(m.kind())
	n := k.bits()
	l.compute(each1(k, n, func(x uint64) uint64 { return bits.Reverse64(x) >> (64 - n) }), k, k)
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

// lowerInsert is bfi: b with len bits from bit pos on replaced by those of a.
func lowerInsert(l *lowering, s *statement, m *mods) {
	k := l.plain(m.kind())
	l.need(5)
	in := blank(classDo)
	in.d = l.dest(s.args[0], k)
	in.a, in.b, in.c = l.value(s.args[1], k), l.value(s.args[2], k), l.value(s.args[3], u32)
	in.ins = []slot{l.value(s.args[4], u32)}
	n := uint64(k.bits())
	in.do = func(w *warp, in *inst, at uint32) error {
		var t vec
		a, b, c, length := w.at(in.a), w.at(in.b), w.at(in.c), w.at(in.ins[0])
		for i := range t {
			t[i] = b[i]
			if pos := c[i] & 255; pos < n {
				hole := mask(int(min(length[i]&255, n-pos))) << pos
				t[i] = b[i]&^hole | a[i]<<pos&hole
			}
		}
		w.put(in.d, &t, at)
		return nil
	}
	l.emit(in)
}

// permute is prmt: each byte of the result is one of the eight of b:a, or its
// sign.
func permute(a, b, c uint64) uint64 {
	bytes := b<<32 | a
	var r uint64
	for i := range 4 {
		sel := c >> (4 * i)
		x := bytes >> (8 * (sel & 7)) & 255
		if sel&8 != 0 {
			x = -(x >> 7) & 255
		}
		r |= x << (8 * i)
	}
	return r
}

// permuteModes maps the two low bits of c to a selector of permute.
var permuteModes = map[string][4]uint64{
	"f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	"b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	"rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	"ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	"rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

func lowerPermute(l *lowering, _ *statement, m *mods) {
	m.drop("b32")
	f := permute
	if mode := m.one("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"); mode != "" {
		table := permuteModes[mode]
		f = func(a, b, c uint64) uint64 { return permute(a, b, table[c&3]) }
	}
	l.compute(each3(b32, 32, f), b32, b32, b32, b32)
}

// lowerLop3 is any function of three bits, given by its table of eight bits.
func lowerLop3(l *lowering, s *statement, m *mods) {
	m.drop("b32")
	l.need(5)
	if s.args[4].kind != opImmediate {
		l.fail("the table of lop3 is not a number")
	}
	table := s.args[4].bits
	s4 := *s
	s4.args = s.args[:4]
	l.s = &s4
	l.compute(each3(b32, 32, func(a, b, c uint64) uint64 {
		var r uint64
		for i := range 8 {
			if table>>i&1 == 0 {
				continue
			}
			x, y, z := a, b, c
			if i&4 == 0 {
				x = ^a
			}
			if i&2 == 0 {
				y = ^b
			}
			if i&1 == 0 {
				z = ^c
			}
			r |= x & y & z
		}
		return r
	}), b32, b32, b32, b32)
}

// lowerDot is dp4a: c plus the products of four pairs of bytes.
func lowerDot(l *lowering, _ *statement, m *mods) {
	ka, kb := m.kind(), m.kind()
	part := func(x uint64, i int, signed bool) int64 {
		if signed {
			return int64(int8(x >> (8 * i)))
		}
		return int64(uint8(x >> (8 * i)))
	}
	l.compute(each3(b32, 32, func(a, b, c uint64) uint64 {
		sum := int64(c)
		for i := range 4 {
			sum += part(a, i, ka.signed()) * part(b, i, kb.signed())
		}
		return uint64(sum)
	}), b32, b32, b32, b32)
}
