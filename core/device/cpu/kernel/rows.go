package kernel

import "fmt"

// The functions of this file work on rows: of a softmax, of a norm, of a recurrent state.

// Largest returns the largest element of x, and −Inf if there is none. A NaN in x may be passed over.
func (f *Family) Largest(x []float32) float32 { return f.table.largest(x) }

// ExpSum writes dst = e^(x−shift), as Exp does, and returns the sum of the results in float64.
func (f *Family) ExpSum(dst, x []float32, shift float32) float64 {
	return f.table.expSum(dst, x[:len(dst)], shift)
}

// Sum returns Σx in float64, in an order that depends only on the length.
func (f *Family) Sum(x []float32) float64 { return f.table.sum(x) }

// Dot returns Σ a·b in float64, likewise.
func (f *Family) Dot(a, b []float32) float64 { return f.table.dot(a, b[:len(a)]) }

// MirroredDot is Dot from the middle outwards: products at equal distance from it are added to each
// other first, so that those of equal size and opposite sign cancel out.
func (f *Family) MirroredDot(a, b []float32) float64 { return f.table.mirroredDot(a, b[:len(a)]) }

// GroupSoftmax4 writes rest·softmax(x) + even, where each four elements have a softmax of their own.
func (f *Family) GroupSoftmax4(dst, x []float32, rest, even float32) {
	if len(dst)%4 != 0 {
		panic(fmt.Sprintf("kernel: %d elements are no groups of four", len(dst)))
	}
	f.table.groupSoftmax4(dst, x[:len(dst)], rest, even)
}

// GatedUpdate writes dst = h + û(t − h) with t = tanh(σ(r)·c) and û = σ(u − 1), with the bits of Sigmoid,
// Tanh, Sub, Mul and Add.
func (f *Family) GatedUpdate(dst, r, c, u, h []float32) {
	n := len(dst)
	f.table.gatedUpdate(dst, r[:n], c[:n], u[:n], h[:n])
}

// GatedGrad writes the gradients of r, c and u for a gradient d of GatedUpdate's result.
func (f *Family) GatedGrad(dr, dc, du, r, c, u, h, d []float32) {
	n := len(dr)
	f.table.gatedGrad(dr, dc[:n], du[:n], r[:n], c[:n], u[:n], h[:n], d[:n])
}

// GatedKeep writes the gradient of h, dst = d(1 − û).
func (f *Family) GatedKeep(dst, u, d []float32) { f.table.gatedKeep(dst, u[:len(dst)], d[:len(dst)]) }

// RMSNorm writes dst = γ·x·s with s = 1/√(mean(x²)+eps) for each row of x; a row is as long as gamma.
func (f *Family) RMSNorm(dst, x, gamma []float32, eps float64) {
	f.table.rmsNorm(dst, x[:len(dst)], gamma, eps)
}

// RMSNormDX writes the gradient of x, dst = s·(g − x·s²·mean(g·x)) with g = γ·dy.
func (f *Family) RMSNormDX(dst, x, gamma, dy []float32, eps float64) {
	f.table.rmsNormDX(dst, x[:len(dst)], gamma, dy[:len(dst)], eps)
}

// RMSNormDGamma adds the gradient of gamma, the sum of dy·x·s over rows of x, to sums; a row is as long as
// sums.
func (f *Family) RMSNormDGamma(sums, x, dy []float32, eps float64) {
	f.table.rmsNormDGamma(sums, x, dy[:len(x)], eps)
}
