package ptx

import "math"

// float2 is an operation + - * / of two floats.
func float2(l *lowering, op byte, k kind, r rounding, sat bool) alu {
	if sat && k != f32 {
		l.fail("%s.sat.%s", l.s.op, k)
	}
	switch k {
	case f32:
		if r.mode == 'n' && !r.ftz && !sat {
			switch op {
			case '+':
				return addSingle
			case '-':
				return subtractSingle
			case '*':
				return multiplySingle
			}
		}
		return singles2(op, r, sat)
	case f64:
		if r.mode != 'n' {
			l.fail("%s.f64 is supported in rounding .rn alone", l.s.op)
		}
		return doubles2(op)
	case f16, bf16, f16x2, bf16x2:
		if k == bf16 || k == bf16x2 {
			l.requires(90) // earlier cards have only fma
		}
		return halves(k, func(x, y, _ float64) float64 {
			switch op {
			case '-':
				y = -y
				fallthrough
			case '+':
				return sticky(x+y, sumError(x, y, x+y))
			}
			return x * y
		})
	}
	l.fail("%s of type %s", l.s.op, k)
	return nil
}

func addSingle(d, a, b, _ *vec) {
	for i := range d {
		d[i] = fromSingle(single(a[i]) + single(b[i]))
	}
}

func subtractSingle(d, a, b, _ *vec) {
	for i := range d {
		d[i] = fromSingle(single(a[i]) - single(b[i]))
	}
}

func multiplySingle(d, a, b, _ *vec) {
	for i := range d {
		d[i] = fromSingle(single(a[i]) * single(b[i]))
	}
}

func singles2(op byte, r rounding, sat bool) alu {
	f := product32
	switch op {
	case '+':
		f = sum32
	case '-':
		f = func(a, b float32, mode byte) float32 { return sum32(a, -b, mode) }
	case '/':
		f = quotient32
	}
	return finish(r, sat, func(x, y, _ uint64) uint64 { return fromSingle(f(single(x), single(y), r.mode)) })
}

// finish makes an alu from a function on f32 bits, with .ftz and .sat.
func finish(r rounding, sat bool, f func(x, y, z uint64) uint64) alu {
	return func(d, a, b, c *vec) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			if r.ftz {
				x, y, z = flush(x), flush(y), flush(z)
			}
			v := f(x, y, z)
			if r.ftz {
				v = flush(v)
			}
			if sat {
				v = saturate(v)
			}
			d[i] = v
		}
	}
}

func doubles2(op byte) alu {
	return func(d, a, b, _ *vec) {
		for i := range d {
			x, y := double(a[i]), double(b[i])
			switch op {
			case '+':
				x += y
			case '-':
				x -= y
			case '*':
				x *= y
			case '/':
				x /= y
			}
			d[i] = fromDouble(x)
		}
	}
}

// halves makes an alu for f16 and bf16, one or two in a register. f works on exact values.
// A float64 holds their sums and products exactly, except sums of numbers of such different
// magnitude that the rest is a sticky bit.
func halves(k kind, f func(x, y, z float64) float64) alu {
	one, count := k, 1
	switch k {
	case f16x2:
		one, count = f16, 2
	case bf16x2:
		one, count = bf16, 2
	}
	return func(d, a, b, c *vec) {
		for i := range d {
			x, y, z, r := a[i], b[i], c[i], uint64(0)
			for h := range count {
				at := 16 * h
				v := f(float64(widen16(x>>at&0xffff, one)), float64(widen16(y>>at&0xffff, one)), float64(widen16(z>>at&0xffff, one)))
				r |= narrow16(v, one, 'n') << at
			}
			d[i] = r
		}
	}
}

// lowerFma is fma, with one rounding.
func lowerFma(l *lowering, s *statement, m *mods) {
	r := roundOf(m)
	sat, relu := m.take("sat"), m.take("relu")
	k := m.kind()
	if !r.said {
		l.fail("unknown opcode %s: %s needs a rounding", s.text, s.op)
	}
	if k == bf16 || k == bf16x2 || relu {
		l.requires(80)
	}
	var f alu
	switch k {
	case f32:
		f = fuseSingle
		if r.mode != 'n' || r.ftz || sat {
			f = finish(r, sat, func(x, y, z uint64) uint64 { return fromSingle(fused32(single(x), single(y), single(z), r.mode)) })
		}
	case f64:
		f = func(d, a, b, c *vec) {
			for i := range d {
				d[i] = fromDouble(math.FMA(double(a[i]), double(b[i]), double(c[i])))
			}
		}
	case f16, bf16, f16x2, bf16x2:
		f = halves(k, func(x, y, z float64) float64 {
			p := x * y
			v := sticky(p+z, sumError(p, z, p+z))
			if relu && !(v > 0) && v == v {
				return 0
			}
			return v
		})
	default:
		l.fail("%s of type %s", s.op, k)
	}
	if relu && k.bits() > 16 && k != f16x2 && k != bf16x2 || k == f64 && (r.mode != 'n' || sat) {
		l.fail("%s.%s with such modifiers", s.op, k)
	}
	l.compute(f, k, k, k, k)
}

// fuseSingle is fma.rn.f32. The product is exact in float64. Rounding the sum to float64
// first does harm only if it lies half way between two float32 or the result is
// subnormal: these take the general path, as do NaN and infinity. The exponents of the rest
// are 897 to 2046.
func fuseSingle(d, a, b, c *vec) {
	for i := range d {
		s := float64(single(a[i]))*float64(single(b[i])) + float64(single(c[i]))
		u := math.Float64bits(s)
		switch {
		case u&(1<<29-1) != 1<<28 && u>>52&2047-897 < 1150:
			d[i] = uint64(math.Float32bits(float32(s)))
		case u<<1 == 0:
			d[i] = u >> 32
		default:
			d[i] = fromSingle(fused32(single(a[i]), single(b[i]), single(c[i]), 'n'))
		}
	}
}

// floatMinMax is min and max: the other operand if one is NaN, unless .NaN is given;
// -0 counts as less than +0.
func floatMinMax(l *lowering, upper bool, k kind, ftz, nan, relu bool) alu {
	pick := func(x, y float64) float64 {
		switch {
		case x != x && y != y, nan && (x != x || y != y):
			return math.NaN()
		case x != x:
			return y
		case y != y:
			return x
		case upper:
			return math.Max(x, y)
		}
		return math.Min(x, y)
	}
	switch {
	case k == f32 && !ftz && !nan:
		return minMaxSingle(upper)
	case k == f32:
		return finish(rounding{ftz: ftz}, false, func(x, y, _ uint64) uint64 {
			return fromSingle(float32(pick(float64(single(x)), float64(single(y)))))
		})
	case k == f64:
		return func(d, a, b, _ *vec) {
			for i := range d {
				d[i] = fromDouble(pick(double(a[i]), double(b[i])))
			}
		}
	case k == tf32:
		l.fail("%s of type tf32", l.s.op)
	}
	return halves(k, func(x, y, _ float64) float64 {
		v := pick(x, y)
		if relu && v < 0 {
			v = 0
		}
		return v
	})
}

func minMaxSingle(upper bool) alu {
	slow := func(x, y uint64) uint64 {
		a, b := single(x), single(y)
		switch {
		case a != a && b != b:
			return nan32
		case a != a:
			return y
		case b != b:
			return x
		case upper: // two zeros
			return x & y
		}
		return x | y
	}
	if upper {
		return func(d, a, b, _ *vec) {
			for i := range d {
				switch x, y := single(a[i]), single(b[i]); {
				case x > y:
					d[i] = a[i]
				case y > x:
					d[i] = b[i]
				case x == y && x != 0:
					d[i] = a[i]
				default:
					d[i] = slow(a[i], b[i])
				}
			}
		}
	}
	return func(d, a, b, _ *vec) {
		for i := range d {
			switch x, y := single(a[i]), single(b[i]); {
			case x < y:
				d[i] = a[i]
			case y < x:
				d[i] = b[i]
			case x == y && x != 0:
				d[i] = a[i]
			default:
				d[i] = slow(a[i], b[i])
			}
		}
	}
}

// floatSign is abs and neg: the sign bit alone.
func floatSign(l *lowering, negate bool, k kind, ftz bool) alu {
	var bit uint64
	switch k {
	case f32:
		bit = 1 << 31
	case f64:
		bit = 1 << 63
	case f16, bf16:
		bit = 1 << 15
	case f16x2, bf16x2:
		bit = 1<<31 | 1<<15
	default:
		l.fail("%s of type %s", l.s.op, k)
	}
	return func(d, a, _, _ *vec) {
		for i := range d {
			x := a[i]
			if ftz {
				x = flush(x)
			}
			if negate {
				d[i] = x ^ bit
			} else {
				d[i] = x &^ bit
			}
		}
	}
}

// functions holds the approximations of the device, here computed in float64 and
// rounded once. The ISA's bounds: ex2, rcp, rsqrt, sqrt 1 to 2 units in the last
// place, sin and cos 2^-20.9 absolute in [-π, π], lg2 2^-22.6, tanh 2^-11
// relative.
var functions = map[string]func(float64) float64{
	"ex2":   math.Exp2,
	"lg2":   math.Log2,
	"sin":   math.Sin,
	"cos":   math.Cos,
	"tanh":  math.Tanh,
	"rcp":   func(x float64) float64 { return 1 / x },
	"sqrt":  math.Sqrt,
	"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
}

// lowerFunction is one of functions, for any float type.
func lowerFunction(l *lowering, s *statement, m *mods) {
	approx := m.take("approx")
	r := roundOf(m)
	k := m.kind()
	g := functions[s.op]
	if approx == r.said {
		l.fail("unknown opcode %s: %s is .approx or has a rounding", s.text, s.op)
	}
	if s.op == "tanh" {
		l.requires(75)
	}
	switch {
	case k == f32 && s.op == "sqrt" && !approx:
		l.compute(finish(r, false, func(x, _, _ uint64) uint64 { return fromSingle(root32(single(x), r.mode)) }), k, k)
	case k == f32 && s.op == "rcp" && !approx:
		l.compute(finish(r, false, func(x, _, _ uint64) uint64 { return fromSingle(quotient32(1, single(x), r.mode)) }), k, k)
	case k == f32 && approx:
		l.compute(finish(r, false, func(x, _, _ uint64) uint64 { return fromSingle(float32(g(float64(single(x))))) }), k, k)
	case k == f64 && (s.op == "sqrt" || s.op == "rcp" || s.op == "rsqrt") && r.mode == 'n':
		l.compute(func(d, a, _, _ *vec) {
			for i := range d {
				d[i] = fromDouble(g(double(a[i])))
			}
		}, k, k)
	case (s.op == "ex2" || s.op == "tanh") && k != f64 && k != tf32:
		l.compute(halves(k, func(x, _, _ float64) float64 { return g(x) }), k, k)
	default:
		l.fail("%s.%s", s.op, k)
	}
}

// lowerCopysign is the magnitude of b with the sign of a.
func lowerCopysign(l *lowering, _ *statement, m *mods) {
	k := m.kind()
	bit := uint64(1) << (k.bits() - 1)
	l.compute(func(d, a, b, _ *vec) {
		for i := range d {
			d[i] = a[i]&bit | b[i]&^bit
		}
	}, k, k, k)
}
