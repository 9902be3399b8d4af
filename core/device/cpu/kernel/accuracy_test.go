package kernel

import (
	"math"
	"testing"
)

// A curve is an elementwise function with its true values in float64. The error is in ulp of the
// truth, or of floor where that is larger: slopes have a root, near which only the absolute error
// can be small.
type curve struct {
	name  string
	call  func(f *Family, dst, x []float32)
	truth func(x float64) float64
	bound float64 // ulp
	floor float64
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

var curves = []curve{
	{"exp", (*Family).Exp, math.Exp, 2, 0},
	{"log", (*Family).Log, math.Log, 2, 0},
	{"tanh", (*Family).Tanh, math.Tanh, 4, 0},
	{"sigmoid", (*Family).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 4, 0},
	{"softplus", (*Family).Softplus, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 4, 0},
	{"softplus'", func(f *Family, dst, x []float32) { f.SoftplusGrad(dst, ones(len(x)), x) }, func(x float64) float64 {
		return 1 / (1 + math.Exp(-x))
	}, 4, 0},
	{"silu", (*Family).SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, 4, 0},
	{"mish", (*Family).Mish, trueMish, 4, 0},
	{"elu", (*Family).ELU, func(x float64) float64 {
		if x > 0 {
			return x
		}
		return math.Expm1(x)
	}, 3, 0},
	{"silu'", func(f *Family, dst, x []float32) { f.SiLUGrad(dst, ones(len(x)), x) }, func(x float64) float64 {
		s := 1 / (1 + math.Exp(-x))
		return s + x*s/(1+math.Exp(x))
	}, 4, 0.25},
	{"mish'", func(f *Family, dst, x []float32) { f.MishGrad(dst, ones(len(x)), x) }, func(x float64) float64 {
		e := math.Exp(-math.Abs(x))
		t, s := 0.0, e
		if x > 0 {
			t, s = (1+2*e)/(1+2*e+2*e*e), e*e
		} else {
			t = e * (e + 2) / (e*e + 2*e + 2)
		}
		d := 1 + 2*e + 2*e*e
		if x <= 0 {
			d = e*e + 2*e + 2
		}
		return t + x*4*s*(1+e)/(d*d)
	}, 4, 0.25},
	{"elu'", func(f *Family, dst, x []float32) { f.ELUGrad(dst, ones(len(x)), x) }, func(x float64) float64 {
		return math.Exp(min(x, 0))
	}, 2, 0},
}

func trueMish(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x > 0 {
		return x * (1 + 2*e) / (1 + 2*e + 2*e*e)
	}
	return x * e * (e + 2) / (e*e + 2*e + 2)
}

// ulps returns the distance of got from want in units of the last place of a float32 of that size
// (of floor, if that is larger).
func ulps(got float32, want, floor float64) float64 {
	if r := float32(want); r == got || (r != r && got != got) {
		return 0
	}
	if got != got || want != want { // NaN would be forgotten where the worst is sought
		return math.Inf(1)
	}
	if math.IsInf(float64(got), 0) { // the next number after the largest
		got = float32(math.Copysign(math.MaxFloat32, float64(got)))
	}
	_, e := math.Frexp(max(math.Abs(want), floor))
	unit := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-want) / unit
}

// sweep visits float32 numbers over the whole range of exponents and of signs:
// every stride-th bit pattern, NaN and ±Inf among them.
func sweep(stride uint32, visit func(x []float32)) {
	x := make([]float32, 0, 4096)
	for bits, more := uint32(0), true; more; {
		x = append(x, math.Float32frombits(bits))
		next := bits + stride
		more = next > bits
		bits = next
		if len(x) == cap(x) || !more {
			visit(x)
			x = x[:0]
		}
	}
}

func TestAccuracy(t *testing.T) {
	stride := uint32(4999) // prime: 860,000 numbers, all patterns of low bits
	if testing.Short() {
		stride = 49999
	}
	eachFamily(t, func(t *testing.T, f *Family) {
		stride := stride
		if f == plain { // it rounds the truth's own computation
			stride *= 10
		}
		for _, c := range curves {
			worst, where := 0.0, float32(0)
			dst := make([]float32, 4096)
			check := func(x []float32) {
				c.call(f, dst[:len(x)], x)
				for i, v := range x {
					want := c.limit(v)
					if e := ulps(dst[i], want, c.floor); e > worst {
						worst, where = e, v
					}
				}
			}
			sweep(stride, check)
			x := make([]float32, 4096)
			for lo := -120.0; lo < 120; lo += 0.5 { // dense where the functions bend
				for i := range x {
					x[i] = float32(lo + 0.5*float64(i)/float64(len(x)))
				}
				check(x)
			}
			check([]float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45})
			t.Logf("%-9s %.2f ulp, at %g", c.name, worst, where)
			if !(worst <= c.bound) {
				t.Errorf("%s: %.2f ulp at %g, more than %g", c.name, worst, where, c.bound)
			}
		}
	})
}

// limit returns the truth, or its limit at −Inf where the formula is ∞·0.
func (c curve) limit(x float32) float64 {
	if y := c.truth(float64(x)); y == y || x != x {
		return y
	}
	if c.name == "log" {
		return math.NaN()
	}
	return c.truth(math.Copysign(200, float64(x)))
}
