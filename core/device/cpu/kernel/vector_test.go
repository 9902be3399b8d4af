package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// lengths covers every tail, several blocks of every unrolling, and the cut
// between two calls of the assembly.
func lengths() []int {
	var ns []int
	for n := range 70 {
		ns = append(ns, n)
	}
	return append(ns, 127, 128, 129, 8191, 8192, 8193, 16384+17)
}

// near says whether two results of different families agree: to a few ulp, or to the absolute error
// that cancellation permits.
func near(a, b float32) bool {
	d := math.Abs(float64(a) - float64(b))
	return d <= 1e-6*max(1, math.Abs(float64(b)))
}

func TestUnary(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(5, 6))
		truth := unaryKernels(plain)
		for i, k := range unaryKernels(f) {
			for _, n := range lengths() {
				x, dst := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8))
				if k.name == "Log" {
					plain.Exp(x.data, x.data)
				}
				want := make([]float32, n)
				truth[i].call(want, x.data)
				k.call(dst.data, x.data)
				dst.check(t, k.name)
				x.check(t, k.name)
				same(t, fmt.Sprintf("%s of %d", k.name, n), dst.data, want)
				k.call(x.data, x.data)
				x.check(t, k.name+" in place")
				identical(t, k.name+" in place", x.data, dst.data)
			}
		}
	})
}

func TestBinary(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(7, 8))
		truth := binaryKernels(plain)
		for i, k := range binaryKernels(f) {
			for _, n := range lengths() {
				a, b, dst := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8))
				want := make([]float32, n)
				truth[i].call(want, a.data, b.data)
				k.call(dst.data, a.data, b.data)
				dst.check(t, k.name)
				same(t, fmt.Sprintf("%s of %d", k.name, n), dst.data, want)
				second := append([]float32(nil), b.data...)
				k.call(second, a.data, second)
				identical(t, k.name+" over its second input", second, dst.data)
				k.call(a.data, a.data, b.data)
				a.check(t, k.name+" in place")
				identical(t, k.name+" over its first input", a.data, dst.data)
			}
		}
	})
}

// Bytes become the same bits in every family.
func TestFromBytes(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(19, 20))
		for _, n := range lengths() {
			src, dst, want := make([]byte, n+9)[r.IntN(9):], fence(n, r.IntN(8)), make([]float32, n)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			for i := range want {
				want[i] = float32(src[i])/255 - 0.5
			}
			f.FromBytes(dst.data, src, -0.5)
			what := fmt.Sprintf("numbers of %d bytes", n)
			dst.check(t, what)
			identical(t, what, dst.data, want)
		}
	})
}

func TestAxpyLerp(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(9, 1))
		for _, n := range lengths() {
			a, dst := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r)
			want := append([]float32(nil), dst.data...)
			f.Axpy(dst.data, 0.37, a.data)
			plain.Axpy(want, 0.37, a.data)
			same(t, "axpy", dst.data, want)
			f.Lerp(dst.data, a.data, 0.005)
			plain.Lerp(want, a.data, 0.005)
			same(t, "lerp", dst.data, want)
			dst.check(t, "axpy or lerp")
		}
	})
}

// TestMasks checks the functions with exact results: ReLU and its gradient, including NaN and the
// signs of zero.
func TestMasks(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	z := []float32{0, float32(math.Copysign(0, -1)), 1, -1, nan, inf, -inf, 1e-45, -1e-45, 3, -3}
	eachFamily(t, func(t *testing.T, f *Family) {
		got, want := make([]float32, len(z)), make([]float32, len(z))
		f.ReLU(got, z)
		plain.ReLU(want, z)
		identical(t, "relu", got, want)
		f.ReLUGrad(got, ones(len(z)), z)
		identical(t, "relu'", got, []float32{0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0})
		f.Gemm(1, len(z), 0, nil, 0, 1, nil, len(z), got, len(z), Epilogue{Bias: z, ReLU: true})
		plain.ReLU(want, z)
		same(t, "epilogue", got, want)
	})
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !near(got[i], want[i]) && !(got[i] != got[i] && want[i] != want[i]) && got[i] != want[i] {
			t.Fatalf("%s: [%d] = %g, want %g", what, i, got[i], want[i])
		}
	}
}

func identical(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("%s: [%d] = %g, want the bits of %g", what, i, got[i], want[i])
		}
	}
}

func TestAdam(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range lengths() {
			w, m, v := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r)
			g0, g1 := fence(n, 1).normal(r).data, fence(n, 2).normal(r).data
			if n%2 == 0 {
				g1 = nil
			}
			plain.Mul(v.data, v.data, v.data)
			if n > 3 { // a parameter that never had a gradient
				m.data[3], v.data[3], g0[3] = 0, 0, 0
				if g1 != nil {
					g1[3] = 0
				}
			}
			h := AdamStep{0.9, 0.999, 3e-3, 1.3, 1e-8, 1e-3, 0.7}
			want := append([]float32(nil), w.data...)
			for i := range want {
				g := float64(g0[i])
				if g1 != nil {
					g += float64(g1[i])
				}
				g *= 0.7
				b1, b2 := float64(h.Beta1), float64(h.Beta2)
				mi := b1*float64(m.data[i]) + (1-b1)*g
				vi := b2*float64(v.data[i]) + (1-b2)*g*g
				want[i] = float32((1-1e-3)*float64(want[i]) - 3e-3*mi/(math.Sqrt(vi)*1.3+1e-8))
			}
			f.Adam(w.data, m.data, v.data, g0, g1, &h)
			w.check(t, "w")
			m.check(t, "m")
			v.check(t, "v")
			same(t, fmt.Sprintf("adam of %d", n), w.data, want)
		}
	})
}

// TestAdamForgets checks that the moments of a parameter whose gradient has vanished become zeros
// and not subnormal numbers, and that NaN stays NaN.
func TestAdamForgets(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		const n = 40
		w, m, v, g := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range m {
			m[i], v[i] = 1e-36, 1e-38
		}
		m[7], v[8] = float32(math.NaN()), float32(math.NaN())
		h := AdamStep{0.9, 0.9, 3e-4, 1, 1e-8, 0, 1}
		for range 80 {
			f.Adam(w, m, v, g, nil, &h)
		}
		for i := range m {
			if i == 7 && m[i] == m[i] || i == 8 && v[i] == v[i] {
				t.Fatalf("a NaN became m %g, v %g", m[i], v[i])
			}
			if i != 7 && m[i] != 0 || i != 8 && v[i] != 0 {
				t.Fatalf("[%d] m %g, v %g after 80 steps without a gradient, want 0", i, m[i], v[i])
			}
		}
	})
}

func TestSums(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, n := range lengths() {
			a, b := fence(n, r.IntN(8)).normal(r).data, fence(n, r.IntN(8)).normal(r).data
			for name, pair := range map[string][2]float64{
				"Σa²":     {f.SumSquares(a, nil), plain.SumSquares(a, nil)},
				"Σ(a+b)²": {f.SumSquares(a, b), plain.SumSquares(a, b)},
				"Σ(a−b)²": {f.SumSquaredDiff(a, b), plain.SumSquaredDiff(a, b)},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-13*pair[1] {
					t.Fatalf("%s of %d: %.17g, want %.17g", name, n, pair[0], pair[1])
				}
			}
		}
	})
}
