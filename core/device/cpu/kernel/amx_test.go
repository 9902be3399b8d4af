package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// tiledAndVector returns "amx" and "avx512", or skips.
func tiledAndVector(t *testing.T) (tiled, vector *Family) {
	tiled, err := Select("amx")
	if err != nil {
		t.Skip(err)
	}
	vector, err = Select("avx512")
	if err != nil {
		t.Fatal(err)
	}
	return tiled, vector
}

// TestTiledError checks that products of operands split into three parts are closer to the truth
// than chains of multiply-adds, for numbers of similar size, of very different sizes, and for sums
// that nearly cancel.
func TestTiledError(t *testing.T) {
	tiled, vector := tiledAndVector(t)
	r := rand.New(rand.NewPCG(31, 32))
	const m, n, k = 64, 96, 400
	for name, draw := range map[string]func(l int) float32{
		"normal":        func(int) float32 { return float32(r.NormFloat64()) },
		"log-normal":    func(int) float32 { return float32(math.Exp(3 * r.NormFloat64())) },
		"cancelling":    func(l int) float32 { return float32(1-2*(l%2)) * (1 + 1e-3*r.Float32()) },
		"of full width": func(int) float32 { return 1 + float32(r.Uint32()>>9)*0x1p-23 },
	} {
		a, b := make([]float32, m*k), make([]float32, k*n)
		for i := range a {
			a[i] = draw(i)
		}
		for i := range b {
			b[i] = draw(0)
		}
		x, y := productError(tiled, a, b, m, n, k), productError(vector, a, b, m, n, k)
		t.Logf("%s: %.2g of Σ|a·b| at most, by multiply-adds %.2g", name, x, y)
		if !(x <= y) {
			t.Errorf("%s: an error of %g of Σ|a·b|, multiply-adds have %g", name, x, y)
		}
	}
}

// productError returns the largest error of an element as a share of Σ|a·b|.
func productError(f *Family, a, b []float32, m, n, k int) (worst float64) {
	c := make([]float32, m*n)
	f.Gemm(m, n, k, a, k, 1, b, n, c, n, Epilogue{})
	for i := range m {
		for j := range n {
			var want, size float64
			for l := range k {
				x := float64(a[i*k+l]) * float64(b[l*n+j])
				want, size = want+x, size+math.Abs(x)
			}
			worst = max(worst, math.Abs(float64(c[i*n+j])-want)/size)
		}
	}
	return worst
}

// TestTiledSpecials checks that a value that is not finite makes every element of its row or column
// not finite, and no other.
func TestTiledSpecials(t *testing.T) {
	tiled, _ := tiledAndVector(t)
	r := rand.New(rand.NewPCG(33, 34))
	const m, n, k = 40, 50, 70
	for _, special := range []float32{float32(math.NaN()), math.Float32frombits(0x7fffffff), math.Float32frombits(0xff800001),
		float32(math.Inf(1)), float32(math.Inf(-1))} {
		a, b, c := fence(m*k, 0).normal(r).data, fence(k*n, 0).normal(r).data, make([]float32, m*n)
		row, column := r.IntN(m), r.IntN(n)
		a[row*k+r.IntN(k)], b[r.IntN(k)*n+column] = special, special
		tiled.Gemm(m, n, k, a, k, 1, b, n, c, n, Epilogue{})
		for i := range m {
			for j := range n {
				x := float64(c[i*n+j])
				if finite := x-x == 0; finite == (i == row || j == column) {
					t.Fatalf("%g in row %d and column %d: (%d,%d) is %g", special, row, column, i, j, x)
				}
			}
		}
	}
}

// TestTiledSelfCheck checks that a matrix unit that computes wrongly is detected.
func TestTiledSelfCheck(t *testing.T) {
	f, _ := tiledAndVector(t)
	wrong := *f
	wrong.table.gemm = func(o operands) {
		f.table.gemm(o)
		if o.m >= minTiled && o.n >= minTiled {
			o.c[(o.m-1)*o.ldc+o.n-1] *= 1 + 1e-4
		}
	}
	if agrees(f) != nil || agrees(&wrong) == nil {
		t.Error("a wrong product was not found, or a right one refused")
	}
}
