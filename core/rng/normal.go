package rng

import "math"

// normals makes two independent N(0,1) numbers of two words (Box and Muller 1958).
// It has its own logarithm and sine: an argument of 32 bits needs only integer range
// reduction and no branches, which random arguments would make mispredict. The numbers
// are also the same on every machine, although libraries differ.
func normals(a, b uint32) (x, y float64) {
	radius := math.Sqrt(-2 * logUnit(a))
	sin, cos := sincosTurn(b)
	return radius * cos, radius * sin
}

// logUnit is ln((w+½)/2³²); the half keeps it finite. The series is FreeBSD's
// (msun/src/e_log.c), accurate to one ulp. Products are rounded before they are added
// on every machine.
func logUnit(w uint32) float64 {
	const (
		ln2Hi, ln2Lo   = 6.93147180369123816490e-01, 1.90821492927058770002e-10
		l1, l2, l3, l4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
		l5, l6, l7     = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01
		rootHalf       = 0x3fe6a09e667f3bcd // the bits of √½
	)
	bits := math.Float64bits(float64(w) + 0.5)
	up := int64(bits-rootHalf) >> 52 // √½·2^up ≤ w+½ < √2·2^up
	f := math.Float64frombits(bits-uint64(up)<<52) - 1
	k := float64(up - 32)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	r := float64(s2*add(add(add(l7, s4, l5), s4, l3), s4, l1)) + float64(s4*add(add(l6, s4, l4), s4, l2))
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+r)) + float64(k*ln2Lo))) - f)
}

// sincosTurn returns the sine and cosine of w/2³² of a turn. The series are those of the
// Cephes library (sin.c), accurate to one ulp within an eighth of a turn.
func sincosTurn(w uint32) (sin, cos float64) {
	const (
		s0, s1, s2 = 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6
		s3, s4, s5 = -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1
		c0, c1, c2 = -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7
		c3, c4, c5 = 2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2
	)
	quarter := (w + 1<<29) >> 30 // the nearest quarter turn; z is the rest
	z := float64(int32(w-quarter<<30)) * (2 * math.Pi / (1 << 32))
	zz := z * z
	s := add(add(add(add(add(s0, zz, s1), zz, s2), zz, s3), zz, s4), zz, s5)
	c := add(add(add(add(add(c0, zz, c1), zz, c2), zz, c3), zz, c4), zz, c5)
	s = z + float64(z*float64(zz*s))
	c = 1 - float64(0.5*zz) + float64(float64(zz*zz)*c)
	// A quarter turn maps (sin, cos) to (cos, −sin), a half turn negates both.
	bs, bc := math.Float64bits(s), math.Float64bits(c)
	q := uint64(quarter)
	swap := (bs ^ bc) & -(q & 1)
	bs, bc = bs^swap, bc^swap
	bs ^= q >> 1 & 1 << 63
	bc ^= (q ^ q>>1) & 1 << 63
	return math.Float64frombits(bs), math.Float64frombits(bc)
}

// add is a·x + b, rounded twice: without the conversion, some machines would round once.
func add(a, x, b float64) float64 { return float64(a*x) + b }
