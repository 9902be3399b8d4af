package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// rowLengths are lengths of rows with all kinds of tails.
func rowLengths() []int { return append(lengths(), 255, 512, 2*chunk+5) }

// close64 compares sums in float64, whose terms have a sum of sizes.
func close64(t *testing.T, what string, got, want, sizes float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-13*sizes) {
		t.Fatalf("%s is %.17g, want %.17g", what, got, want)
	}
}

func TestSumsOfRows(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(31, 32))
		for _, n := range rowLengths() {
			a, b, dst := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r).data, fence(n, r.IntN(8))
			what := fmt.Sprintf("of %d", n)
			if got, want := f.Largest(a.data), plainLargest(a.data); got != want {
				t.Fatalf("the largest %s is %v, want %v", what, got, want)
			}
			sizes, products := 0.0, 0.0
			for i, v := range a.data {
				sizes += math.Abs(float64(v))
				products += math.Abs(float64(v) * float64(b[i]))
			}
			close64(t, "the sum "+what, f.Sum(a.data), plainSum(a.data), sizes)
			close64(t, "the dot product "+what, f.Dot(a.data, b), plainDot(a.data, b), products)
			close64(t, "the mirrored dot product "+what, f.MirroredDot(a.data, b), plainMirroredDot(a.data, b), products)
			want := make([]float32, n)
			sum := f.ExpSum(dst.data, a.data, 1.5)
			plainExpSum(want, a.data, 1.5)
			dst.check(t, "exponentials")
			same(t, "exponentials "+what, dst.data, want)
			close64(t, "the sum of exponentials "+what, sum, plainSum(dst.data), sum)
		}
		if got := f.Largest(nil); !math.IsInf(float64(got), -1) {
			t.Errorf("the largest of nothing is %v", got)
		}
	})
}

// Products of equal size and opposite sign cancel without a rest, whatever their sizes and the length.
func TestMirroredDotCancels(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(33, 34))
		for _, n := range rowLengths() {
			a, b := make([]float32, n), make([]float32, n)
			for i := range n / 2 {
				a[i] = float32(r.NormFloat64())
				b[i] = float32(math.Exp(20 * r.NormFloat64()))
				a[n-1-i], b[n-1-i] = a[i], -b[i]
			}
			if got := f.MirroredDot(a, b); got != 0 {
				t.Fatalf("of %d: %v is left", n, got)
			}
		}
	})
}

func TestGroupSoftmax4(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(35, 36))
		for _, n := range rowLengths() {
			n -= n % 4
			x, dst, want := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)), make([]float32, n)
			if n > 7 {
				x.data[1], x.data[4], x.data[5] = -1e30, 80, float32(math.Inf(-1))
			}
			f.GroupSoftmax4(dst.data, x.data, 0.99, 0.0025)
			plainGroupSoftmax4(want, x.data, 0.99, 0.0025)
			dst.check(t, "softmax of fours")
			same(t, fmt.Sprintf("softmax of fours of %d", n), dst.data, want)
		}
		nan := float32(math.NaN())
		x := []float32{0, nan, 0, 0, 1, 2, 3, 4, nan, 0, 0, 0}
		f.GroupSoftmax4(x, x, 1, 0)
		for i, v := range x {
			if (v != v) != (i < 4 || i >= 8) {
				t.Errorf("element %d of groups with a NaN is %v", i, v)
			}
		}
	})
}

// The gated update has the bits of the functions that it is made of, and its gradients those of their
// gradients.
func TestGatedUpdate(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(37, 38))
		for _, n := range lengths() {
			var x [5][]float32
			for i := range x {
				x[i] = fence(n, r.IntN(8)).normal(r).data
			}
			reset, candidate, update, want := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			f.Sigmoid(reset, x[0])
			f.Mul(candidate, reset, x[1])
			f.Tanh(candidate, candidate)
			for i, v := range x[2] {
				update[i] = v - 1
			}
			f.Sigmoid(update, update)
			f.Sub(want, candidate, x[3])
			f.Mul(want, update, want)
			f.Add(want, x[3], want)
			dst := fence(n, r.IntN(8))
			f.GatedUpdate(dst.data, x[0], x[1], x[2], x[3])
			dst.check(t, "gated update")
			if f.name == "go" {
				same(t, "gated update", dst.data, want)
			} else {
				identical(t, "gated update", dst.data, want)
			}
			dr, dc, du, dh := fence(n, r.IntN(8)), fence(n, r.IntN(8)), fence(n, r.IntN(8)), fence(n, r.IntN(8))
			f.GatedGrad(dr.data, dc.data, du.data, x[0], x[1], x[2], x[3], x[4])
			f.GatedKeep(dh.data, x[2], x[4])
			for name, d := range map[string]fenced{"r": dr, "c": dc, "u": du, "h": dh} {
				d.check(t, "gradient of "+name)
			}
			for i, d := range x[4] {
				r, tanh, u := float64(reset[i]), float64(candidate[i]), float64(update[i])
				dt := float64(d) * u * (1 - tanh*tanh)
				for name, pair := range map[string][2]float64{
					"r": {float64(dr.data[i]), dt * float64(x[1][i]) * r * (1 - r)}, "c": {float64(dc.data[i]), dt * r},
					"u": {float64(du.data[i]), float64(d) * (tanh - float64(x[3][i])) * u * (1 - u)}, "h": {float64(dh.data[i]), float64(d) * (1 - u)},
				} {
					if math.Abs(pair[0]-pair[1]) > 2e-6*(1e-2+math.Abs(pair[1])) {
						t.Fatalf("gradient of %s: [%d] is %v, want %v", name, i, pair[0], pair[1])
					}
				}
			}
		}
	})
}

func TestRMSNorms(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(39, 40))
		for _, cols := range []int{1, 7, 8, 16, 40, 48, 64, 512} {
			for _, rows := range []int{0, 1, 5, 300} {
				x, dy := fence(rows*cols, r.IntN(8)).normal(r).data, fence(rows*cols, r.IntN(8)).normal(r).data
				gamma, dst, want := fence(cols, r.IntN(8)).normal(r).data, fence(rows*cols, r.IntN(8)), make([]float32, rows*cols)
				what := fmt.Sprintf("rms norm of %d×%d", rows, cols)
				f.RMSNorm(dst.data, x, gamma, 1e-4)
				plainRMSNorm(want, x, gamma, 1e-4)
				dst.check(t, what)
				same(t, what, dst.data, want)
				f.RMSNormDX(dst.data, x, gamma, dy, 1e-4)
				plainRMSNormDX(want, x, gamma, dy, 1e-4)
				dst.check(t, what+"'s gradient")
				sums, of := fence(cols, r.IntN(8)).normal(r), make([]float32, cols)
				copy(of, sums.data)
				f.RMSNormDGamma(sums.data, x, dy, 1e-4)
				plainRMSNormDGamma(of, x, dy, 1e-4)
				sums.check(t, what+"'s gradient of γ")
				for i, v := range of { // many terms of either sign
					if math.Abs(float64(sums.data[i]-v)) > 3e-6*(10+math.Abs(float64(v))) {
						t.Fatalf("%s's gradient of γ: [%d] is %v, want %v", what, i, sums.data[i], v)
					}
				}
				for i, v := range want { // two terms that may nearly cancel
					if math.Abs(float64(dst.data[i]-v)) > 1e-6*(20+math.Abs(float64(v))) {
						t.Fatalf("%s's gradient: [%d] is %v, want %v", what, i, dst.data[i], v)
					}
				}
			}
		}
	})
}
