package ptx

import "math/bits"

// extend returns a function that reads the low bits of a register as type k, signed types
// with their sign.
func extend(k kind) func(uint64) uint64 {
	switch k {
	case s8:
		return func(x uint64) uint64 { return uint64(int64(int8(x))) }
	case s16:
		return func(x uint64) uint64 { return uint64(int64(int16(x))) }
	case s32:
		return func(x uint64) uint64 { return uint64(int64(int32(x))) }
	}
	m := mask(k.bits())
	return func(x uint64) uint64 { return x & m }
}

// mask has the low n bits set.
func mask(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// each1, each2 and each3 make an alu from a function of one lane. Operands are extended
// from type k, and the result is cut to n bits.
func each1(k kind, n int, f func(x uint64) uint64) alu {
	e, m := extend(k), mask(n)
	return func(d, a, _, _ *vec) {
		for i := range d {
			d[i] = f(e(a[i])) & m
		}
	}
}

func each2(k kind, n int, f func(x, y uint64) uint64) alu {
	e, m := extend(k), mask(n)
	return func(d, a, b, _ *vec) {
		for i := range d {
			d[i] = f(e(a[i]), e(b[i])) & m
		}
	}
}

func each3(k kind, n int, f func(x, y, z uint64) uint64) alu {
	e, m := extend(k), mask(n)
	return func(d, a, b, c *vec) {
		for i := range d {
			d[i] = f(e(a[i]), e(b[i]), e(c[i])) & m
		}
	}
}

// div and rem do what devices do where PTX leaves the result open: a division by zero
// gives all ones, and its remainder is the dividend.
func div(k kind) func(x, y uint64) uint64 {
	if k.signed() {
		return func(x, y uint64) uint64 {
			switch int64(y) {
			case 0:
				return ^uint64(0)
			case -1:
				return -x
			}
			return uint64(int64(x) / int64(y))
		}
	}
	return func(x, y uint64) uint64 {
		if y == 0 {
			return ^uint64(0)
		}
		return x / y
	}
}

func rem(k kind) func(x, y uint64) uint64 {
	if k.signed() {
		return func(x, y uint64) uint64 {
			switch int64(y) {
			case 0:
				return x
			case -1:
				return 0
			}
			return uint64(int64(x) % int64(y))
		}
	}
	return func(x, y uint64) uint64 {
		if y == 0 {
			return x
		}
		return x % y
	}
}

// high returns the upper half of a product of two numbers of type k.
func high(k kind) func(x, y uint64) uint64 {
	switch {
	case k == u64:
		return func(x, y uint64) uint64 { h, _ := bits.Mul64(x, y); return h }
	case k == s64:
		return func(x, y uint64) uint64 {
			h, _ := bits.Mul64(x, y)
			return h - uint64(int64(x)>>63)&y - uint64(int64(y)>>63)&x
		}
	}
	n := k.bits()
	if k.signed() {
		return func(x, y uint64) uint64 { return uint64(int64(x) * int64(y) >> n) }
	}
	return func(x, y uint64) uint64 { return x * y >> n }
}

func smaller(k kind) func(x, y uint64) uint64 {
	if k.signed() {
		return func(x, y uint64) uint64 { return uint64(min(int64(x), int64(y))) }
	}
	return func(x, y uint64) uint64 { return min(x, y) }
}

func larger(k kind) func(x, y uint64) uint64 {
	if k.signed() {
		return func(x, y uint64) uint64 { return uint64(max(int64(x), int64(y))) }
	}
	return func(x, y uint64) uint64 { return max(x, y) }
}

// clampSigned is add.sat and sub.sat of s32.
func clampSigned(x int64) uint64 {
	return uint64(min(max(x, -1<<31), 1<<31-1))
}

// lowerAdd is add and sub.
func lowerAdd(l *lowering, s *statement, m *mods) {
	minus := s.op == "sub"
	sat := m.take("sat")
	f := roundOf(m)
	k := l.arithmetic(m.kind())
	switch {
	case k.float():
		op := byte('+')
		if minus {
			op = '-'
		}
		l.compute(float2(l, op, k, f, sat), k, k, k)
	case f.said || f.ftz || sat && k != s32:
		l.fail("unknown opcode %s", s.text)
	case sat && minus:
		l.compute(each2(k, 32, func(x, y uint64) uint64 { return clampSigned(int64(x) - int64(y)) }), k, k, k)
	case sat:
		l.compute(each2(k, 32, func(x, y uint64) uint64 { return clampSigned(int64(x) + int64(y)) }), k, k, k)
	case minus:
		l.compute(subtract(k.bits()), k, k, k)
	default:
		l.compute(add(k.bits()), k, k, k)
	}
}

// lowerMul is mul of integers and floats.
func lowerMul(l *lowering, s *statement, m *mods) {
	part := m.one("lo", "hi", "wide")
	sat := m.take("sat")
	f := roundOf(m)
	k := l.arithmetic(m.kind())
	switch {
	case k.float() && part == "":
		l.compute(float2(l, '*', k, f, sat), k, k, k)
	case k.float() || sat || f.said || f.ftz:
		l.fail("unknown opcode %s", s.text)
	case part == "wide" && k.bits() <= 32:
		l.compute(multiplyWide(k), wider(k), k, k)
	case part == "hi":
		l.compute(each2(k, k.bits(), high(k)), k, k, k)
	case part == "lo":
		l.compute(multiply(k.bits()), k, k, k)
	default:
		l.fail("%s.%s needs .lo, .hi or .wide", s.op, k)
	}
}

// wider is the type with twice the bits.
func wider(k kind) kind {
	switch k {
	case u16:
		return u32
	case s16:
		return s32
	case u32:
		return u64
	}
	return s64
}

// lowerMad is mad of integers; mad of floats is fma.
func lowerMad(l *lowering, s *statement, m *mods) {
	part := m.one("lo", "hi", "wide")
	if part == "" {
		lowerFma(l, s, m)
		return
	}
	k := l.arithmetic(m.kind())
	if k.float() || part == "wide" && k.bits() > 32 {
		l.fail("unknown opcode %s", s.text)
	}
	switch part {
	case "wide":
		w := wider(k)
		n := mask(w.bits())
		mul := multiplyWide(k)
		l.compute(func(d, a, b, c *vec) {
			var t vec
			mul(&t, a, b, nil)
			for i := range d {
				d[i] = (t[i] + c[i]) & n
			}
		}, w, k, k, w)
	case "hi":
		h := high(k)
		l.compute(each3(k, k.bits(), func(x, y, z uint64) uint64 { return h(x, y) + z }), k, k, k, k)
	case "lo":
		l.compute(multiplyAdd(k.bits()), k, k, k, k)
	}
}

// lowerDiv is div and rem.
func lowerDiv(l *lowering, s *statement, m *mods) {
	f := roundOf(m)
	k := l.arithmetic(m.kind())
	switch {
	case k.float() && !f.said:
		l.fail("unknown opcode %s: div of floats needs a rounding", s.text)
	case k.float() && s.op == "div":
		l.compute(float2(l, '/', k, f, false), k, k, k)
	case s.op == "div":
		l.compute(each2(k, k.bits(), div(k)), k, k, k)
	default:
		l.compute(each2(k, k.bits(), rem(k)), k, k, k)
	}
}

// lowerMinMax is min and max.
func lowerMinMax(l *lowering, s *statement, m *mods) {
	ftz, nan := m.take("ftz"), m.take("NaN")
	k := l.arithmetic(m.kind())
	if nan {
		l.requires(80)
	}
	switch {
	case k.float():
		l.compute(floatMinMax(s.op == "max", k, ftz, nan), k, k, k)
	case ftz || nan:
		l.fail("unknown opcode %s", s.text)
	case s.op == "max":
		l.compute(each2(k, k.bits(), larger(k)), k, k, k)
	default:
		l.compute(each2(k, k.bits(), smaller(k)), k, k, k)
	}
}

// lowerUnary is abs and neg.
func lowerUnary(l *lowering, s *statement, m *mods) {
	ftz := m.take("ftz")
	k := l.arithmetic(m.kind())
	switch {
	case k.float():
		l.compute(floatSign(s.op == "neg", k, ftz), k, k)
	case s.op == "neg":
		l.compute(each1(k, k.bits(), func(x uint64) uint64 { return -x }), k, k)
	default:
		l.compute(each1(k, k.bits(), func(x uint64) uint64 { return uint64(max(int64(x), -int64(x))) }), k, k)
	}
}
