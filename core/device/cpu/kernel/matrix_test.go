package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRowDot(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(21, 22))
		for range 300 {
			m, k := r.IntN(20), r.IntN(90)
			if r.IntN(20) == 0 {
				k = 70_000 // more than one call's worth
			}
			lda, ldo := k+r.IntN(4), 1+r.IntN(3)
			a, w := fence(max(0, m-1)*lda+k, r.IntN(8)).normal(r), fence(k, r.IntN(8)).normal(r).data
			out := fence(max(0, m-1)*ldo+1, r.IntN(4))
			f.RowDot(m, k, a.data, lda, w, 0.5, out.data, ldo)
			out.check(t, "out")
			one := make([]float32, 1)
			for i := range m {
				want, size := 0.5, 0.5
				for l := range k {
					x := float64(a.data[i*lda+l]) * float64(w[l])
					want, size = want+x, size+math.Abs(x)
				}
				got := out.data[i*ldo]
				if !(math.Abs(float64(got)-want) <= float64(k/4+8)*0x1p-24*size) {
					t.Fatalf("%d×%d: [%d] = %g, want %g", m, k, i, got, want)
				}
				f.RowDot(1, k, a.data[i*lda:], lda, w, 0.5, one, 1)
				identical(t, "row alone", one, []float32{got})
			}
		}
	})
}

func TestColSum(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(23, 24))
		for range 300 {
			m, n := r.IntN(20), r.IntN(200)
			if r.IntN(20) == 0 {
				m, n = 300+r.IntN(300), 1000+r.IntN(300)
			}
			lda := n + r.IntN(4)
			a, out := fence(max(0, m-1)*lda+n, r.IntN(8)).normal(r), fence(n, r.IntN(8))
			want := make([]float32, n)
			f.ColSum(m, n, a.data, lda, out.data)
			plain.ColSum(m, n, a.data, lda, want)
			out.check(t, "out")
			identical(t, "column sums", out.data, want)
		}
	})
}

func TestTranspose(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(25, 26))
		for i := range 300 {
			rows, cols := r.IntN(50), r.IntN(50)
			if i == 0 {
				rows, cols = 17, 2100 // two calls
			}
			lds, ldd := cols+r.IntN(4), rows+r.IntN(4)
			src, dst := fence(max(0, max(0, rows-1)*lds+cols), r.IntN(8)).normal(r), fence(max(0, max(0, cols-1)*ldd+rows), r.IntN(8))
			for j := range dst.data {
				dst.data[j] = guard
			}
			f.Transpose(rows, cols, src.data, lds, dst.data, ldd)
			dst.check(t, "dst")
			for j := range cols {
				for i := range min(ldd, len(dst.data)-j*ldd) {
					want := guard
					if i < rows {
						want = src.data[i*lds+j]
					}
					if dst.data[j*ldd+i] != want {
						t.Fatalf("%d×%d: (%d,%d) = %g, want %g", rows, cols, j, i, dst.data[j*ldd+i], want)
					}
				}
			}
		}
	})
}

// TestGemmCuts checks that rows and columns of a product have the same bits however the product is
// divided; determinism with any number of workers depends on this.
func TestGemmCuts(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(27, 28))
		for _, k := range []int{1, 7, 90, 300, 600} {
			const m, n = 85, 150
			rows, columns := 1+r.IntN(12), 1+r.IntN(80)
			if f.name == "amx" {
				rows, columns = minTiled+r.IntN(12), minTiled+r.IntN(60)
			}
			a, b, bias := fence(m*k, 0).normal(r).data, fence(k*n, 0).normal(r).data, fence(n, 0).normal(r).data
			c, cut := fence(m*n, 0).normal(r).data, make([]float32, m*n)
			copy(cut, c)
			ep := Epilogue{Read: f.Mish, Bias: bias, Accumulate: true, ReLU: true}
			f.Gemm(m, n, k, a, k, 1, b, n, c, n, ep)
			for i := 0; i < m; {
				rows := rows
				if m-i < 2*rows {
					rows = m - i
				}
				for j := 0; j < n; {
					cols := columns
					if n-j < 2*cols {
						cols = n - j
					}
					ep.Bias = bias[j:]
					f.Gemm(rows, cols, k, a[i*k:], k, 1, b[j:], n, cut[i*n+j:], n, ep)
					j += cols
				}
				i += rows
			}
			identical(t, "product in pieces", cut, c)
			// Neither the transpose of A in memory nor copying A, because its rows lie far apart,
			// changes anything.
			at := make([]float32, m*k)
			f.Transpose(m, k, a, k, at, m)
			copy(cut, c)
			ep = Epilogue{}
			f.Gemm(m, n, k, a, k, 1, b, n, c, n, ep)
			f.Gemm(m, n, k, at, 1, m, b, n, cut, n, ep)
			identical(t, "product with Aᵀ", cut, c)
			wide := make([]float32, m*1000)
			for i := range m {
				copy(wide[i*1000:], a[i*k:(i+1)*k])
			}
			f.Gemm(m, n, k, wide, 1000, 1, b, n, cut, n, ep)
			identical(t, "product with a wide A", cut, c)
			bt := make([]float32, n*(k+3))
			f.Transpose(k, n, b, n, bt, k+3)
			for _, cols := range []int{1, 5, 23, n} {
				for _, rows := range []int{1, 3, m} {
					if f.name == "amx" && min(rows, cols) < minTiled {
						continue
					}
					clear(cut)
					f.GemmBT(rows, cols, k, a, k, 1, bt, k+3, cut, n, ep)
					for i := range rows {
						identical(t, "product with Bᵀ", cut[i*n:i*n+cols], c[i*n:i*n+cols])
					}
				}
			}
		}
	})
}

// TestGemmLarge uses several blocks of rows and ranges of k, with A copied.
func TestGemmLarge(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(29, 30))
		checkGemm(t, f, r, product{300, 150, 520, 7})
		checkGemm(t, f, r, product{523, 130, 300, 0})
		checkGemm(t, f, r, product{900, 20, 33, 0})
		checkGemm(t, f, r, product{300, 600, 300, 0})
		checkGemm(t, f, r, product{1, 70, 5000, 0})
	})
}

func TestAllocations(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		const n = 40
		a, b, c := randoms(n*n), randoms(n*n), randoms(n*n)
		var sum float64
		read := f.Mish
		calls := testing.AllocsPerRun(50, func() {
			f.Gemm(n, n, n, a, n, 1, b, n, c, n, Epilogue{Bias: b[:n], Mask: a})
			f.GemmBT(n, n, n, a, n, 1, b, n, c, n, Epilogue{Read: read, Accumulate: true, From: a})
			f.RowDot(n, n, a, n, b, 1, c, 1)
			f.ColSum(n, n, a, n, c)
			f.Transpose(n, n, a, n, c, n)
			f.Mish(c, a)
			f.TanhGrad(c, a, b)
			f.Lerp(c, a, 0.1)
			f.Adam(c, a, b, a, nil, &AdamStep{Eps: 1, InvSqrtC2: 1})
			sum += f.SumSquares(a, b) + f.SumSquaredDiff(a, b)
		})
		if calls != 0 {
			t.Errorf("%v allocations", calls)
		}
	})
}

// TestBounds checks that a slice too short for its shape panics before it reaches the assembly.
func TestBounds(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		x := make([]float32, 99)
		y := make([]float32, 100)
		for name, call := range map[string]func(){
			"gemm A":    func() { f.Gemm(10, 10, 10, x, 10, 1, y, 10, y, 10, Epilogue{}) },
			"gemm B":    func() { f.Gemm(10, 10, 10, y, 10, 1, x, 10, y, 10, Epilogue{}) },
			"gemm Bᵀ":   func() { f.GemmBT(10, 10, 10, y, 10, 1, x[:99:99], 10, y, 10, Epilogue{}) },
			"gemm C":    func() { f.Gemm(10, 10, 10, y, 10, 1, y, 10, x[:99:99], 10, Epilogue{}) },
			"gemm bias": func() { f.Gemm(10, 10, 10, y, 10, 1, y, 10, y, 10, Epilogue{Bias: x[:9:9]}) },
			"gemm mask": func() { f.Gemm(10, 10, 10, y, 10, 1, y, 10, y, 10, Epilogue{Mask: x[:99:99]}) },
			"gemm ldc":  func() { f.Gemm(10, 10, 10, y, 10, 1, y, 10, y, 9, Epilogue{}) },
			"row dot":   func() { f.RowDot(10, 10, x[:99:99], 10, y, 0, y, 1) },
			"transpose": func() { f.Transpose(10, 10, y, 10, x[:99:99], 10) },
			"add":       func() { f.Add(y, y, x[:99:99]) },
			"exp":       func() { f.Exp(y, x[:99:99]) },
			"adam":      func() { f.Adam(y, y, y, x[:99:99], nil, &AdamStep{}) },
			"laprop":    func() { f.LaProp(y, y, y, x[:99:99], nil, &AdamStep{}) },
			"squares":   func() { f.SumSquares(y, x[:99:99]) },
		} {
			panicked := func() (p bool) {
				defer func() { p = recover() != nil }()
				call()
				return false
			}()
			if !panicked {
				t.Errorf("%s: no panic", name)
			}
		}
	})
}
