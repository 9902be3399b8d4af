package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// guard is the value around every slice of a test; no kernel may change it.
const guard = float32(-1.5e33)

// fenced is a slice with guards on both sides, at a chosen misalignment.
type fenced struct{ whole, data []float32 }

func fence(n, offset int) fenced {
	whole := make([]float32, n+offset+40)
	for i := range whole {
		whole[i] = guard
	}
	return fenced{whole, whole[16+offset : 16+offset+n : 16+offset+n]}
}

func (f fenced) check(t *testing.T, what string) {
	t.Helper()
	lo := len(f.whole) - 24 - len(f.data)
	for i, x := range f.whole {
		if (i < lo || i >= lo+len(f.data)) && x != guard {
			t.Fatalf("%s: wrote outside its slice, at %d of %d", what, i-lo, len(f.data))
		}
	}
}

func (f fenced) normal(r *rand.Rand) fenced {
	for i := range f.data {
		f.data[i] = float32(r.NormFloat64())
	}
	return f
}

// eachFamily runs the test for every family of this build, and says why it skips those that this
// machine cannot run.
func eachFamily(t *testing.T, test func(t *testing.T, f *Family)) {
	families, refused := probed()
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
	for name, why := range refused {
		t.Run(name, func(t *testing.T) { t.Skip(why) })
	}
}

type product struct{ m, n, k, pad int }

func TestGemmRandom(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			p := product{r.IntN(40), r.IntN(70), r.IntN(60), r.IntN(9)}
			checkGemm(t, f, r, p)
		}
		for _, p := range []product{{1, 256, 256, 0}, {256, 1, 90, 0}, {7, 520, 300, 3}, {48, 600, 530, 1}, {13, 33, 0, 2}, {2, 700, 300, 0}, {30, 17, 1, 0}, {30, 130, 1, 3}, {9, 64, 1, 0}} {
			checkGemm(t, f, r, p)
		}
	})
}

// checkGemm compares one product with float64 sums; the bound is that of any order of summation,
// (k+3)·u·Σ|a·b| (Higham 2002, §3.1).
func checkGemm(t *testing.T, f *Family, r *rand.Rand, p product) {
	t.Helper()
	m, n, k := p.m, p.n, p.k
	ars, aks := k+p.pad, 1
	if r.IntN(2) == 0 {
		ars, aks = 1, m+p.pad
	}
	ldb, ldc := n+p.pad, n+r.IntN(5)
	a := fence(max(0, max(0, m-1)*ars+max(0, k-1)*aks+1), r.IntN(8)).normal(r)
	b := fence(max(0, k-1)*ldb+n, r.IntN(8)).normal(r)
	c := fence(max(0, m-1)*ldc+n, r.IntN(8)).normal(r)
	was := append([]float32(nil), c.data...)
	var ep Epilogue
	ep.Accumulate, ep.ReLU = r.IntN(2) == 0, r.IntN(2) == 0
	if r.IntN(2) == 0 {
		ep.Bias = fence(n, r.IntN(8)).normal(r).data
	}
	if r.IntN(2) == 0 {
		ep.Mask = fence(len(c.data), r.IntN(8)).normal(r).data
	}
	from, read := was, func(x float32) float32 { return x }
	if r.IntN(2) == 0 {
		from = fence(len(c.data), r.IntN(8)).normal(r).data
		ep.From = from
	}
	if r.IntN(2) == 0 {
		ep.Read, read = f.ReLU, func(x float32) float32 { return max(0, x) }
	}
	f.Gemm(m, n, k, a.data, ars, aks, b.data, ldb, c.data, ldc, ep)
	c.check(t, "C")
	a.check(t, "A")
	for i := range m {
		for j := range ldc {
			at := i*ldc + j
			if at >= len(c.data) {
				break
			}
			if j >= n {
				if c.data[at] != was[at] {
					t.Fatalf("%+v: wrote between the rows of C, at (%d,%d)", p, i, j)
				}
				continue
			}
			want, size := 0.0, 0.0
			if ep.Accumulate {
				want, size = float64(from[at]), math.Abs(float64(from[at]))
			}
			for l := range k {
				x := float64(read(a.data[i*ars+l*aks])) * float64(b.data[l*ldb+j])
				want, size = want+x, size+math.Abs(x)
			}
			if ep.Bias != nil {
				want, size = want+float64(ep.Bias[j]), size+math.Abs(float64(ep.Bias[j]))
			}
			if ep.ReLU {
				want = max(0, want)
			}
			if ep.Mask != nil && !(ep.Mask[at] > 0) {
				want, size = 0, 0
			}
			bound := float64(k+3) * 0x1p-24 * size
			if !(math.Abs(float64(c.data[at])-want) <= bound) {
				t.Fatalf("%+v a %d,%d ep %v: C(%d,%d) = %g, want %g ± %g", p, ars, aks, ep.ReLU, i, j, c.data[at], want, bound)
			}
		}
	}
}
