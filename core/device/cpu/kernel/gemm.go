package kernel

import "fmt"

// An Epilogue is what a product does besides multiplying: to the elements of A as it reads them,
// and to a finished tile of C, in the order of its fields:
//
//	C = Read(A)·B (+ From, or C, if Accumulate) + Bias; max(0, C) if ReLU; 0 where Mask is not > 0
//
// The zero value does nothing.
type Epilogue struct {
	// Read is one of the elementwise functions, or nil for none. Each call of a product evaluates
	// it once for every element of A.
	Read       func(dst, x []float32)
	Bias       []float32 // [n], added to every row; nil: none
	Accumulate bool      // adds the matrix From, or C
	From       []float32 // same layout and row stride as C; nil: what C held before the call
	ReLU       bool      // NaN stays NaN
	Mask       []float32 // same layout and row stride as C; nil: none
}

// Gemm computes C = A·B and applies the epilogue; A is m×k, B k×n, C m×n. The element (i,l) of A is
// a[i*ars+l*aks], so that Aᵀ needs no copy (ars=1, aks=row stride). B and C are row-major with row
// strides ldb, ldc ≥ n. Any m, n, k ≥ 0 are allowed; with k=0 the epilogue is applied to zeros. C
// must not overlap the operands. Gemm panics if a slice is too short for its shape.
//
// Every element is one chain of multiply-adds in the order of l, starting with C, or From, if it
// accumulates. So an element has the same bits in every product that contains its row and its
// column, however rows and columns are divided over calls. The family "amx" guarantees this among
// products of at least 16 rows and columns, and separately among smaller ones; its sums differ from
// those of the other families and have a smaller error. In "amx", an operand that is not finite
// gives NaN where the other families may give an infinity, and below 2⁻¹⁰² an operand keeps fewer
// and fewer of its digits.
func (f *Family) Gemm(m, n, k int, a []float32, ars, aks int, b []float32, ldb int, c []float32, ldc int, ep Epilogue) {
	if m <= 0 || n <= 0 {
		return
	}
	if ldb < 0 || (k > 1 && ldb < n) {
		panic(fmt.Sprintf("kernel: gemm %d×%d×%d with B of stride %d", m, n, k, ldb))
	}
	if k > 0 {
		b = b[:(k-1)*ldb+n]
	}
	f.table.gemm(operands{m, n, k, a, ars, aks, b, ldb, 1, c, ldc, ep}.sized())
}

// GemmBT is Gemm with the transpose of B in memory: b is n×k with the row stride ldb ≥ k, and the
// element (l,j) of B is b[j*ldb+l]. The bits are the same as Gemm's.
func (f *Family) GemmBT(m, n, k int, a []float32, ars, aks int, b []float32, ldb int, c []float32, ldc int, ep Epilogue) {
	if n <= 1 || k <= 0 { // a single row is a single column
		f.Gemm(m, n, k, a, ars, aks, b, 1, c, ldc, ep)
		return
	}
	if m <= 0 {
		return
	}
	if ldb < k {
		panic(fmt.Sprintf("kernel: gemm %d×%d×%d with Bᵀ of stride %d", m, n, k, ldb))
	}
	f.table.gemm(operands{m, n, k, a, ars, aks, b[:(n-1)*ldb+k], 1, ldb, c, ldc, ep}.sized())
}

// minTiled is the number of rows and columns from which the family "amx" splits operands.
const minTiled = 16

// operands describes a product: element (i,l) of A is a[i*ars+l*aks], (l,j) of B is b[l*brs+j*bcs],
// and (i,j) of C is c[i*ldc+j].
type operands struct {
	m, n, k  int
	a        []float32
	ars, aks int
	b        []float32
	brs, bcs int
	c        []float32
	ldc      int
	ep       Epilogue
}

// sized cuts A, C and the slices laid out like C to the lengths that the shape needs.
func (o operands) sized() operands {
	if o.k < 0 || o.ars < 0 || o.aks < 0 || (o.m > 1 && o.ldc < o.n) {
		panic(fmt.Sprintf("kernel: gemm %d×%d×%d with strides a %d,%d c %d", o.m, o.n, o.k, o.ars, o.aks, o.ldc))
	}
	if o.k > 0 {
		o.a = o.a[:(o.m-1)*o.ars+(o.k-1)*o.aks+1]
	}
	o.c = o.c[:(o.m-1)*o.ldc+o.n]
	if o.ep.Bias != nil {
		o.ep.Bias = o.ep.Bias[:o.n]
	}
	if o.ep.Mask != nil {
		o.ep.Mask = o.ep.Mask[:len(o.c)]
	}
	if o.ep.From != nil {
		o.ep.From = o.ep.From[:len(o.c)]
	}
	return o
}

// RowDot computes out[i*ldo] = a_i·w + bias for the m rows a_i of A (m×k, row
// stride lda): the product with a matrix of one column, for heads with one
// output. A row's result does not depend on the other rows.
func (f *Family) RowDot(m, k int, a []float32, lda int, w []float32, bias float32, out []float32, ldo int) {
	if m <= 0 {
		return
	}
	if k < 0 || ldo < 0 || (m > 1 && lda < k) {
		panic(fmt.Sprintf("kernel: row dot %d×%d with strides %d, %d", m, k, lda, ldo))
	}
	out = out[:(m-1)*ldo+1]
	if k == 0 {
		for i := range m {
			out[i*ldo] = bias
		}
		return
	}
	f.table.rowDot(m, k, a[:(m-1)*lda+k], lda, w[:k], bias, out, ldo)
}

// ColSum computes out[j] = Σ_i a[i*lda+j] over the m rows in order (m = 0 gives
// zeros). It has the same bits in every family.
func (f *Family) ColSum(m, n int, a []float32, lda int, out []float32) {
	if n <= 0 {
		return
	}
	out = out[:n]
	if m <= 0 {
		clear(out)
		return
	}
	if m > 1 && lda < n {
		panic(fmt.Sprintf("kernel: column sum %d×%d with stride %d", m, n, lda))
	}
	f.table.colSum(m, n, a[:(m-1)*lda+n], lda, out)
}

// Transpose writes dst[j*ldd+i] = src[i*lds+j] for i < rows, j < cols; lds ≥
// cols, ldd ≥ rows. The two must not overlap.
func (f *Family) Transpose(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	if (rows > 1 && lds < cols) || (cols > 1 && ldd < rows) {
		panic(fmt.Sprintf("kernel: transpose %d×%d with strides %d, %d", rows, cols, lds, ldd))
	}
	f.table.transpose(rows, cols, src[:(rows-1)*lds+cols], lds, dst[:(cols-1)*ldd+rows], ldd)
}
