package kernel

import (
	"math"
	"testing"

	"pgrlab/core/device"
)

// A curve is an elementwise instruction with its true values in float64. The error is in ulp of the
// truth, or of floor where that is larger: slopes have a root, near which only the absolute error
// can be small.
type curve struct {
	code  device.Code
	truth func(x float64) float64
	bound float64 // ulp
	floor float64
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// tanhSoftplus is tanh(ln(1+eˣ)).
func tanhSoftplus(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x > 0 {
		return (1 + 2*e) / (1 + 2*e + 2*e*e)
	}
	return e * (e + 2) / (e*e + 2*e + 2)
}

// curves: gradients of a slope dy = 1 are the slopes themselves.
var curves = []curve{
	{device.Exp, math.Exp, 2, 0},
	{device.Log, math.Log, 2, 0},
	{device.Sqrt, math.Sqrt, 0.5, 0},
	{device.Tanh, math.Tanh, 4, 0},
	{device.Sigmoid, sigmoid, 4, 0},
	{device.Softplus, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 4, 0},
	{device.SiLU, func(x float64) float64 { return x * sigmoid(x) }, 4, 0},
	{device.Mish, func(x float64) float64 { return x * tanhSoftplus(x) }, 4, 0},
	{device.ELU, func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) }, 3, 0},
	{device.SoftplusGrad, sigmoid, 4, 0},
	{device.SiLUGrad, func(x float64) float64 { return sigmoid(x) * (1 + x*sigmoid(-x)) }, 4, 0.25},
	{device.MishGrad, func(x float64) float64 {
		e := math.Exp(-math.Abs(x))
		s, d := e*e, 1+2*e+2*e*e
		if x <= 0 {
			s, d = e, e*e+2*e+2
		}
		return tanhSoftplus(x) + x*4*s*(1+e)/(d*d)
	}, 4, 0.25},
	{device.ELUGrad, func(x float64) float64 { return math.Exp(min(x, 0)) }, 2, 0},
}

// ulps returns the distance of got from want in units of the last place of a float32 of that size
// (of floor, if that is larger).
func ulps(got float32, want, floor float64) float64 {
	if r := float32(want); r == got || r != r && got != got {
		return 0
	}
	if got != got || want != want { // NaN would be forgotten where the worst is sought
		return math.Inf(1)
	}
	if math.IsInf(float64(got), 0) { // the next number after the largest
		got = float32(math.Copysign(math.MaxFloat32, float64(got)))
	}
	_, e := math.Frexp(max(math.Abs(want), floor))
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// arguments returns float32 numbers over the whole range of exponents and of signs, dense where
// functions bend, and special values.
func arguments(n int) []float32 {
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
		math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45, 1.1754942e-38, 0.41421357, -0.41421357, 88.72283, 88.72284, -87.33655, -103.97208}
	for i := range n {
		x = append(x, math.Float32frombits(uint32(float64(i)/float64(n)*(1<<32))+uint32(i)*7))
	}
	for i := range n {
		x = append(x, float32(-120+240*(float64(i)+0.37)/float64(n)), wave(3, i)*4)
	}
	return x
}

// Every function is accurate to a few units in the last place, within the bounds of the CPU's
// kernels.
func TestAccuracy(t *testing.T) {
	n := 6000
	if soak {
		n = 400000
	}
	x := arguments(n)
	ones := make([]float32, len(x))
	for i := range ones {
		ones[i] = 1
	}
	dev := newCard(t, Target{SM: 80})
	for _, c := range curves {
		p := &device.Program{Buffers: []device.Buffer{vector(x), vector(ones), vector(make([]float32, len(x)))}}
		in := device.Instr{Code: c.code, Out: 2, In: []device.Ref{0}, Mask: device.None}
		switch c.code {
		case device.SoftplusGrad, device.SiLUGrad, device.MishGrad, device.ELUGrad:
			in.In = []device.Ref{1, 0}
		}
		p.Instrs = []device.Instr{in}
		got := execute(t, dev, p).Data(2)
		worst, where := 0.0, float32(0)
		for i, v := range x {
			if e := ulps(got[i], c.limit(v), c.floor); e > worst {
				worst, where = e, v
			}
		}
		t.Logf("%-13v %.2f ulp, at %g", c.code, worst, where)
		if !(worst <= c.bound) {
			t.Errorf("%v: %.2f ulp at %g, more than %g", c.code, worst, where, c.bound)
		}
	}
}

// limit returns the truth, or its limit at ∞ where the formula is ∞·0.
func (c curve) limit(x float32) float64 {
	if y := c.truth(float64(x)); y == y || x != x {
		return y
	}
	if c.code == device.Log || c.code == device.Sqrt {
		return math.NaN()
	}
	return c.truth(math.Copysign(200, float64(x)))
}

// vector returns a buffer of one row in memory that outlives the program.
func vector(x []float32) device.Buffer {
	return device.Buffer{Members: 1, Rows: 1, Cols: len(x), Host: x}
}

// execute compiles a program for a device and runs it once.
func execute(t *testing.T, dev device.Device, p *device.Program) device.Executable {
	t.Helper()
	x, err := dev.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Run(0); err != nil {
		t.Fatal(err)
	}
	return x
}
