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

// lowerFma is fma, with one rounding.
func lowerFma(l *lowering, s *statement, m *mods) {
	r := roundOf(m)
	sat := m.take("sat")
	k := m.kind()
	if !r.said {
		l.fail("unknown opcode %s: %s needs a rounding", s.text, s.op)
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
	default:
		l.fail("%s of type %s", s.op, k)
	}
	if k == f64 && (r.mode != 'n' || sat) {
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
func floatMinMax(upper bool, k kind, ftz, nan bool) alu {
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
	}
	return func(d, a, b, _ *vec) {
		for i := range d {
			d[i] = fromDouble(pick(double(a[i]), double(b[i])))
		}
	}
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
func floatSign(negate bool, k kind, ftz bool) alu {
	bit := uint64(1) << (k.bits() - 1)
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

// lowerRoot is sqrt with a rounding, of f32 and f64.
func lowerRoot(l *lowering, s *statement, m *mods) {
	lowerRounded(l, s, m, root32, math.Sqrt)
}

// lowerReciprocal is rcp with a rounding, of f32 and f64.
func lowerReciprocal(l *lowering, s *statement, m *mods) {
	lowerRounded(l, s, m,
		func(x float32, mode byte) float32 { return quotient32(1, x, mode) },
		func(x float64) float64 { return 1 / x })
}

// lowerRounded is a function of one f32, in any rounding, or of one f64, rounded to nearest.
func lowerRounded(l *lowering, s *statement, m *mods, single32 func(x float32, mode byte) float32, double64 func(float64) float64) {
	r := roundOf(m)
	k := m.kind()
	switch {
	case !r.said:
		l.fail("unknown opcode %s: %s needs a rounding", s.text, s.op)
	case k == f32:
		l.compute(finish(r, false, func(x, _, _ uint64) uint64 { return fromSingle(single32(single(x), r.mode)) }), k, k)
	case k == f64 && r.mode == 'n':
		l.compute(func(d, a, _, _ *vec) {
			for i := range d {
				d[i] = fromDouble(double64(double(a[i])))
			}
		}, k, k)
	default:
		l.fail("unknown opcode %s", s.text)
	}
}
