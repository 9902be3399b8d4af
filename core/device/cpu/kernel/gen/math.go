package main

import "math"

// exponent returns p and t with eˣ = p·t, both normal numbers, for x in [−110, 89]. Two factors are
// needed because 2ⁿ alone leaves the range of float32 where eˣ does not, and so that a product with
// a small eˣ is rounded once.
//
// x = n·ln 2 + r, and eʳ is evaluated by the polynomial of Cephes' expf (S. Moshier).
func (g *gen) exponent(x vec) (p, t vec) {
	p, n := g.reduced(x)
	p = g.add(p, g.c(1))
	whole := g.toInt(n)
	half := g.right(whole, 1)
	rest := g.subInt(whole, half)
	return g.mul(p, g.powerOf2(half)), g.powerOf2(rest)
}

// reduced returns eʳ−1 and n for x = n·ln 2 + r, |r| ≤ ln 2/2.
func (g *gen) reduced(x vec) (p, n vec) {
	const ln2High, ln2Low = 0.693147182464599609375, -1.904654323148236017e-09
	n = g.round(g.mul(x, g.c(1.44269504088896341)))
	r := g.fnma(g.copy(x), n, g.c(ln2High))
	r = g.fnma(r, n, g.c(ln2Low))
	q := g.horner(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
		4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	return g.fma(r, g.mul(r, r), q), n
}

// powerOf2 is 2ⁿ for integer lanes n in [−126, 127].
func (g *gen) powerOf2(n vec) vec {
	return g.left(g.addInt(n, g.bits(127)), 23)
}

// expm1 is eˣ−1 for x in [−20, 20], accurate to the last bits also near 0.
func (g *gen) expm1(x vec) vec {
	p, n := g.reduced(x)
	scale := g.powerOf2(g.toInt(n))
	return g.fma(g.sub(scale, g.c(1)), scale, p)
}

// minusAbs is −|x|, but at least −110: there eˣ·x is below every float32.
func (g *gen) minusAbs(x vec) vec {
	return g.atLeast(g.or(x, g.bits(1<<31)), g.load(g.c(-110)))
}

// leftBounded is x, but at least −150. As a factor of e^−110 this avoids −Inf·0.
func (g *gen) leftBounded(x vec) vec { return g.atLeast(x, g.load(g.c(-150))) }

// bounded is x limited to ±150, so that its product with an underflown slope is 0.
func (g *gen) bounded(x vec) vec { return g.atMost(g.leftBounded(x), g.load(g.c(150))) }

func (g *gen) exp(x vec) vec {
	x = g.atMost(g.atLeast(x, g.load(g.c(-104))), g.load(g.c(89)))
	p, t := g.exponent(x)
	return g.mul(p, t)
}

// log follows FreeBSD's e_logf.c: x = 2ᵏ·(1+f), √½ ≤ 1+f < √2, s = f/(2+f).
func (g *gen) log(x vec) vec {
	tiny := g.less(x, g.bits(0x00800000))
	scaled := g.choose(tiny, g.mul(x, g.c(1<<25)), x)
	i := g.addInt(scaled, g.bits(0x3f800000-0x3f3504f3))
	k := g.fromInt(g.subInt(g.right(i, 23), g.bits(127)))
	k = g.sub(k, g.keep(tiny, g.load(g.c(25))))
	m := g.addInt(g.and(i, g.bits(0x007fffff)), g.bits(0x3f3504f3))
	y := g.log1p(g.sub(m, g.c(1)), k)
	// 0 → −Inf; below → NaN; Inf and NaN stay, and x+x quiets.
	zero := g.zero()
	y = g.choose(g.less(zero, x), y, g.load(g.bits(0xff800000)))
	y = g.choose(g.less(x, zero), g.bits(0x7fc00000), y)
	finite := g.less(x, g.bits(0x7f800000))
	return g.choose(finite, y, g.add(x, x))
}

// tanh is e/(e+2) with e = e^{2|x|}−1, and the sign of x.
func (g *gen) tanh(x vec) vec {
	a := g.atMost(g.and(x, g.bits(0x7fffffff)), g.load(g.c(10)))
	e := g.expm1(g.add(a, a))
	y := g.div(e, g.add(e, g.c(2)))
	return g.or(y, g.and(x, g.bits(1<<31)))
}

// silu is x·σ(x), with e = e^{−|x|}: x/(1+e) for x ≥ 0, x·e/(1+e) for x < 0.
func (g *gen) silu(x vec) vec {
	p, t := g.exponent(g.minusAbs(x))
	left := g.less(x, g.zero())
	d := g.add(g.mul(p, t), g.c(1))
	one := g.load(g.c(1))
	y := g.div(g.choose(left, p, one), d)
	return g.mul(g.mul(y, g.leftBounded(x)), g.choose(left, t, one))
}

// logistic returns σ(x) as y·t, with e = e^{−|x|}: 1/(1+e) right of 0, where t is
// one, e/(1+e) left.
func (g *gen) logistic(x vec) (y, t vec) {
	p, t := g.exponent(g.minusAbs(x))
	left := g.less(x, g.zero())
	one := g.load(g.c(1))
	y = g.div(g.choose(left, p, one), g.add(g.mul(p, t), one))
	return y, g.choose(left, t, one)
}

func (g *gen) sigmoid(x vec) vec {
	y, t := g.logistic(x)
	return g.mul(y, t)
}

// softplusGrad is dy·σ(x), rounded once where σ is below the normal numbers.
func (g *gen) softplusGrad(dy, x vec) vec {
	y, t := g.logistic(x)
	return g.mul(g.mul(dy, y), t)
}

// softplus is max(x, 0) + log(1+e) with e = e^{−|x|}. log(1+e) follows FreeBSD's e_logf.c, from f =
// e, or from f = (e−1)/2 and k = 1 if 1+e is above √2.
func (g *gen) softplus(x vec) vec {
	p, t := g.exponent(g.minusAbs(x))
	e := g.mul(p, t)
	small := g.less(e, g.c(math.Sqrt2-1))
	f := g.choose(small, e, g.mul(g.sub(e, g.c(1)), g.c(0.5)))
	k := g.choose(small, g.zero(), g.load(g.c(1)))
	return g.add(g.log1p(f, k), g.atLeast(x, g.zero()))
}

// log1p is log(1+f) + k·ln 2 for √½ ≤ 1+f < √2.
func (g *gen) log1p(f, k vec) vec {
	s := g.div(f, g.add(f, g.c(2)))
	z := g.mul(s, s)
	r := g.horner(z, 0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693)
	r = g.mul(r, z)
	h := g.mul(g.mul(f, f), g.c(0.5))
	y := g.mul(k, g.c(9.0580006145e-06))
	y = g.fma(y, s, g.add(r, h))
	y = g.add(g.sub(y, h), f)
	return g.fma(y, k, g.c(6.9313812256e-01))
}

// siluSlope is σ·(1 + x·τ), with τ = 1−σ computed without cancellation.
func (g *gen) siluSlope(x vec) vec {
	p, t := g.exponent(g.minusAbs(x))
	left := g.less(x, g.zero())
	e, one := g.mul(p, t), g.load(g.c(1))
	inverse := g.div(one, g.add(e, one))
	low := g.mul(e, inverse)
	sigma, tau := g.choose(left, low, inverse), g.choose(left, inverse, low)
	return g.fma(g.copy(sigma), g.mul(tau, g.bounded(x)), sigma)
}

// mishParts returns e = e^{−|x|} as p·t, and tanh(log(1+eˣ)) = n/d: right of 0
// (1+2e)/(1+2e+2e²), left e(2+e)/(2+e(2+e)). n lacks the factor e on the left.
func (g *gen) mishParts(x vec) (left mask, p, t, e, n, d vec) {
	p, t = g.exponent(g.minusAbs(x))
	left = g.less(x, g.zero())
	e = g.mul(p, t)
	more := g.add(e, g.c(2))
	right := g.fma(g.load(g.c(1)), e, g.c(2))
	d = g.choose(left, g.c(2), right)
	n = g.choose(left, more, right)
	return left, p, t, e, n, g.fma(d, e, g.choose(left, more, g.add(e, e)))
}

func (g *gen) mish(x vec) vec {
	left, p, t, _, n, d := g.mishParts(x)
	one := g.load(g.c(1))
	y := g.mul(g.div(n, d), g.choose(left, p, one))
	return g.mul(g.mul(y, g.leftBounded(x)), g.choose(left, t, one))
}

// mishSlope is T + x·T′, T = n/d, T′ = 4·s·(1+e)/d², s = e² right of 0, e left.
func (g *gen) mishSlope(x vec) vec {
	left, _, _, e, n, d := g.mishParts(x)
	one := g.load(g.c(1))
	inverse := g.div(one, d)
	n = g.mul(n, g.choose(left, e, one))
	s := g.mul(e, g.choose(left, one, e))
	s = g.mul(g.mul(s, g.add(e, one)), g.mul(inverse, g.c(4)))
	return g.mul(g.fma(n, s, g.bounded(x)), inverse)
}

func (g *gen) elu(x vec) vec {
	e := g.expm1(g.atMost(g.atLeast(x, g.load(g.c(-20))), g.zero()))
	return g.choose(g.less(g.zero(), x), x, e)
}

// eluGrad is dy·eˣ left of 0, rounded once.
func (g *gen) eluGrad(dy, x vec) vec {
	p, t := g.exponent(g.atMost(g.leftBounded110(x), g.zero()))
	return g.choose(g.less(g.zero(), x), dy, g.mul(g.mul(dy, p), t))
}

func (g *gen) leftBounded110(x vec) vec { return g.atLeast(x, g.load(g.c(-110))) }
