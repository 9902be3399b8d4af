package ptx

import "math"

// rounding is how an instruction rounds: n to nearest even, z to zero, m down,
// p up; a to nearest, ties away from zero (cvt only). ftz flushes subnormal
// operands and results to zero of the same sign.
type rounding struct {
	mode byte
	ftz  bool
	said bool // the instruction gives the mode
}

func roundOf(m *mods) rounding {
	r := rounding{mode: 'n'}
	if s := m.one("rn", "rz", "rm", "rp", "rna"); s != "" {
		r.mode, r.said = s[len(s)-1], true
	}
	r.ftz = m.take("ftz")
	return r
}

// nan32 and nan64 are the NaN that every arithmetic instruction gives.
const (
	nan32 = 0x7fffffff
	nan64 = 0x7fffffffffffffff
)

func single(x uint64) float32 { return math.Float32frombits(uint32(x)) }

func double(x uint64) float64 { return math.Float64frombits(x) }

func fromSingle(x float32) uint64 {
	if x != x {
		return nan32
	}
	return uint64(math.Float32bits(x))
}

func fromDouble(x float64) uint64 {
	if x != x {
		return nan64
	}
	return math.Float64bits(x)
}

// flush is .ftz on the bits of an f32.
func flush(x uint64) uint64 {
	if x&0x7f800000 == 0 {
		return x & 0x80000000
	}
	return x
}

// saturate is .sat: it clamps to [0, 1], and NaN becomes 0.
func saturate(x uint64) uint64 {
	switch f := single(x); {
	case !(f > 0):
		return 0
	case f > 1:
		return 0x3f800000
	}
	return x
}

// sticky returns the float64 that rounds to a narrower type as the exact sum s + e does,
// where s is that sum rounded to float64: round to odd keeps the lost part visible in the
// last bit.
func sticky(s, e float64) float64 {
	if e == 0 || s != s || math.IsInf(s, 0) {
		return s
	}
	u := math.Float64bits(s)
	if u&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(u | 1)
	}
	return math.Float64frombits(u - 1)
}

// sumError is the part of a + b that was lost when it was rounded to s.
func sumError(a, b, s float64) float64 {
	t := s - a
	return (a - (s - t)) + (b - t)
}

// round32 rounds to a float32 in the given mode.
func round32(x float64, mode byte) float32 {
	r := float32(x)
	if mode == 'n' || float64(r) == x || x != x {
		return r
	}
	up := float64(r) > x // rounding went up
	switch {
	case mode == 'z' && x > 0 && up, mode == 'm' && up:
		return math.Nextafter32(r, float32(math.Inf(-1)))
	case mode == 'z' && x < 0 && !up, mode == 'p' && !up:
		return math.Nextafter32(r, float32(math.Inf(1)))
	}
	return r
}

// sum32 is a + b as f32 in the given mode. The sum of two numbers of opposite
// sign that is exactly zero is -0 when rounding down.
func sum32(a, b float32, mode byte) float32 {
	if mode == 'n' {
		return a + b
	}
	x, y := float64(a), float64(b)
	s := x + y
	if s == 0 && mode == 'm' && (a != 0 || math.Signbit(x) != math.Signbit(y)) {
		return float32(math.Copysign(0, -1))
	}
	return round32(sticky(s, sumError(x, y, s)), mode)
}

// product32 is a * b; a product of two float32 is exact in float64.
func product32(a, b float32, mode byte) float32 {
	return round32(float64(a)*float64(b), mode)
}

// quotient32 is a / b. The error of a float64 quotient has the sign of the
// remainder over that of b.
func quotient32(a, b float32, mode byte) float32 {
	if mode == 'n' {
		return a / b
	}
	x, y := float64(a), float64(b)
	q := x / y
	if q == 0 || math.IsInf(q, 0) || q != q {
		return float32(q)
	}
	return round32(sticky(q, math.FMA(-q, y, x)/y), mode)
}

// root32 is the square root of a.
func root32(a float32, mode byte) float32 {
	x := float64(a)
	r := math.Sqrt(x)
	if mode == 'n' || !(r > 0) || math.IsInf(r, 0) {
		return float32(r)
	}
	return round32(sticky(r, math.FMA(-r, r, x)), mode)
}

// fused32 is a*b + c, rounded once.
func fused32(a, b, c float32, mode byte) float32 {
	p, z := float64(a)*float64(b), float64(c)
	s := p + z
	if s == 0 && mode == 'm' && (p != 0 || math.Signbit(p) != math.Signbit(z)) {
		return float32(math.Copysign(0, -1))
	}
	return round32(sticky(s, sumError(p, z, s)), mode)
}

// widenBF16 reads the lower half of a register as a bf16.
func widenBF16(x uint64) float32 { return math.Float32frombits(uint32(x) << 16) }

// narrowBF16 rounds to a bf16.
func narrowBF16(x float64, mode byte) uint64 {
	const (
		digits, least = 8, -133 // digits of the significand, exponent of the smallest number
		largest       = 0x1.fep127
		infinity, nan = 0x7f80, 0x7fff
	)
	sign := math.Float64bits(x) >> 63 << 15
	switch {
	case x != x:
		return nan
	case math.IsInf(x, 0):
		return sign | infinity
	case x == 0:
		return sign
	}
	_, e := math.Frexp(x)
	unit := max(e-digits, least) // the exponent of the last place
	r := math.Abs(math.Ldexp(roundInteger(math.Ldexp(x, -unit), mode), unit))
	if r > largest {
		if mode == 'z' || mode == 'm' && x > 0 || mode == 'p' && x < 0 {
			return sign | infinity - 1
		}
		return sign | infinity
	}
	return sign | uint64(math.Float32bits(float32(r))>>16)
}

// roundInteger rounds to an integer in the given mode.
func roundInteger(x float64, mode byte) float64 {
	switch mode {
	case 'n':
		return math.RoundToEven(x)
	case 'z':
		return math.Trunc(x)
	case 'm':
		return math.Floor(x)
	case 'p':
		return math.Ceil(x)
	}
	return math.Round(x) // a: ties away from zero
}
