package ptx

import "math"

// lowerConvert is cvt.
func lowerConvert(l *lowering, s *statement, m *mods) {
	mode := m.one("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")
	ftz, sat := m.take("ftz"), m.take("sat")
	d, k := m.kind(), m.kind()
	r := rounding{mode: 'n', ftz: ftz}
	switch {
	case mode == "rna":
		r.mode = 'a'
	case mode != "":
		r.mode = mode[1]
	}
	if d == bf16x2 && k == f32 {
		convertPair(l, r)
		return
	}
	if k.short() || d.short() && (d != tf32 || k != f32) {
		l.fail("unknown opcode %s", l.s.text)
	}
	l.checkConversion(d, k, mode)
	l.need(2)
	in := blank(classALU)
	in.d, in.a = l.wideDest(s.args[0], d), l.wide(s.args[1], k)
	n := 64
	if s.args[0].kind == opRegister {
		n = s.args[0].reg.kind.bits()
	}
	switch {
	case !d.float() && !k.float():
		in.alu = convertIntegers(d, k, n, sat)
	case !d.float():
		in.alu = convertToInteger(d, k, n, r)
	case !k.float():
		in.alu = convertFromInteger(l, d, k, r, sat)
	default:
		in.alu = convertFloats(l, d, k, r, len(mode) == 3 && mode != "rna", sat)
	}
	l.emit(in)
}

// checkConversion rejects roundings that are missing or meaningless, and conversions that
// older cards do not have.
func (l *lowering) checkConversion(d, k kind, mode string) {
	if d == tf32 {
		l.requires(80)
	}
	integral := len(mode) == 3 && mode != "rna"
	var ok bool
	switch {
	case !d.float() && !k.float():
		ok = mode == ""
	case !d.float():
		ok = integral
	case !k.float():
		ok = mode != "" && !integral
	case d == k:
		ok = integral || mode == ""
	case d == tf32 || d.bits() < k.bits():
		ok = mode != "" && !integral
	default:
		ok = mode == ""
	}
	if !ok || mode == "rna" && d != tf32 {
		l.fail("unknown opcode %s: the rounding of cvt.%s.%s", l.s.text, d, k)
	}
}

// convertIntegers extends or truncates; n is the number of bits of the result's register.
func convertIntegers(d, k kind, n int, sat bool) alu {
	if !sat {
		from, to, m := extend(k), extend(d), mask(n)
		switch {
		case k == u32 && d.bits() == 64, k == u64 && d == u32 && n == 64:
			return func(d, a, _, _ *vec) {
				for i := range d {
					d[i] = uint64(uint32(a[i]))
				}
			}
		case k == s32 && d.bits() == 64:
			return func(d, a, _, _ *vec) {
				for i := range d {
					d[i] = uint64(int64(int32(a[i])))
				}
			}
		}
		return func(d, a, _, _ *vec) {
			for i := range d {
				d[i] = to(from(a[i])) & m
			}
		}
	}
	from, m := extend(k), mask(n)
	return func(dst, a, _, _ *vec) {
		for i := range dst {
			dst[i] = clampInteger(from(a[i]), k.signed(), d) & m
		}
	}
}

// clampInteger is .sat: it clamps x, signed or not, to the range of d.
func clampInteger(x uint64, signed bool, d kind) uint64 {
	negative := signed && int64(x) < 0
	if !d.signed() {
		if negative {
			return 0
		}
		return min(x, mask(d.bits()))
	}
	most := mask(d.bits() - 1)
	if negative {
		return uint64(max(int64(x), -int64(most)-1))
	}
	return min(x, most)
}

// exact reads a float of type k.
func exact(k kind) func(uint64) float64 {
	if k == f64 {
		return double
	}
	return func(x uint64) float64 { return float64(single(x)) }
}

// convertToInteger rounds and clamps. NaN becomes 0, or the sign bit alone for
// 64-bit results and for f64.
func convertToInteger(d, k kind, n int, r rounding) alu {
	read, m := exact(k), mask(n)
	low, high := -math.Ldexp(1, d.bits()-1), math.Ldexp(1, d.bits()-1)
	least, most := uint64(1)<<(d.bits()-1), mask(d.bits()-1)
	if !d.signed() {
		low, high, least, most = 0, 2*high, 0, mask(d.bits())
	}
	nan := uint64(0)
	if d.bits() == 64 || k == f64 {
		nan = 1 << (d.bits() - 1)
	}
	to := extend(d)
	return func(dst, a, _, _ *vec) {
		for i := range dst {
			x := a[i]
			if r.ftz && k == f32 {
				x = flush(x)
			}
			f := roundInteger(read(x), r.mode)
			v := nan
			switch {
			case f >= high:
				v = most
			case f < low || f == low && low < 0:
				v = least
			case f != f:
			case d == u64:
				v = uint64(f)
			default:
				v = uint64(int64(f))
			}
			dst[i] = to(v) & m
		}
	}
}

// convertFromInteger rounds an integer to a float.
func convertFromInteger(l *lowering, d, k kind, r rounding, sat bool) alu {
	e := extend(k)
	if sat && d != f32 {
		l.fail("cvt.sat.%s.%s", d, k)
	}
	if d == f32 && r.mode == 'n' && !sat && k == s32 {
		return func(d, a, _, _ *vec) {
			for i := range d {
				d[i] = uint64(math.Float32bits(float32(int32(a[i]))))
			}
		}
	}
	if d == f64 && r.mode != 'n' && k.bits() == 64 {
		l.fail("cvt.f64.%s is supported in rounding .rn alone", k)
	}
	return func(dst, a, _, _ *vec) {
		for i := range dst {
			x := e(a[i])
			f, rest := toDouble(x, k.signed())
			switch d {
			case f64:
				dst[i] = fromDouble(f)
			case f32:
				v := fromSingle(round32(sticky(f, rest), r.mode))
				if sat {
					v = saturate(v)
				}
				dst[i] = v
			}
		}
	}
}

// toDouble returns an integer as a float64, and the rest that was lost.
func toDouble(x uint64, signed bool) (f, rest float64) {
	if signed {
		f = float64(int64(x))
		if f >= 1<<63 {
			return f, -float64(1<<63 - x)
		}
		return f, float64(int64(x) - int64(f))
	}
	f = float64(x)
	if f >= 1<<64 {
		return f, -float64(-x)
	}
	return f, float64(int64(x - uint64(f)))
}

// convertFloats is cvt between floats, or to an integral value of the same type.
func convertFloats(l *lowering, d, k kind, r rounding, integral, sat bool) alu {
	read := exact(k)
	var write func(float64) uint64
	switch d {
	case f64:
		write = fromDouble
	case f32:
		write = func(x float64) uint64 { return fromSingle(round32(x, r.mode)) }
	case tf32:
		write = func(x float64) uint64 { return narrowTF32(x, r.mode) }
	}
	if sat && d == f64 {
		l.fail("cvt.sat.f64")
	}
	return func(dst, a, _, _ *vec) {
		for i := range dst {
			x := a[i]
			if r.ftz && k == f32 {
				x = flush(x)
			}
			f := read(x)
			if integral {
				f = roundInteger(f, r.mode)
			}
			if sat {
				f = min(max(f, 0), 1)
				if f != f {
					f = 0
				}
			}
			v := write(f)
			if r.ftz && d == f32 {
				v = flush(v)
			}
			dst[i] = v
		}
	}
}

// narrowTF32 rounds to the 10 fraction bits of tf32, kept in the layout of f32.
func narrowTF32(x float64, mode byte) uint64 {
	if x != x || math.IsInf(x, 0) || x == 0 {
		return fromSingle(float32(x))
	}
	_, e := math.Frexp(x)
	unit := max(e-11, -136)
	return fromSingle(float32(math.Ldexp(roundInteger(math.Ldexp(x, -unit), mode), unit)))
}

// convertPair is cvt.bf16x2.f32, of two f32 to one register: the first goes to the upper half.
func convertPair(l *lowering, r rounding) {
	l.requires(80)
	l.compute(func(d, a, b, _ *vec) {
		for i := range d {
			d[i] = narrowBF16(float64(single(a[i])), r.mode)<<16 | narrowBF16(float64(single(b[i])), r.mode)
		}
	}, bf16x2, f32, f32)
}
