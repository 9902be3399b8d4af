package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// patchesFor returns a random geometry, of windows of an image or of any other kind.
func patchesFor(r *rand.Rand) Patches {
	p := Patches{
		Outer: 1 + r.IntN(4), OuterStride: r.IntN(60), Inner: 1 + r.IntN(33), InnerStride: r.IntN(12),
		Lines: 1 + r.IntN(4), LineStride: r.IntN(80), Run: 1 + r.IntN(30), RunStride: 1,
	}
	if r.IntN(2) == 0 {
		p.RunStride = r.IntN(9)
	}
	return p
}

// Products of patches agree with sums in float64, at every width of columns around a strip.
func TestMulPatches(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(31, 32))
		for round := range 200 {
			p, n := patchesFor(r), 1+r.IntN(70)
			if round == 0 {
				p.Inner, p.Run, n = 1500, 700, 40 // more than one call's work
			}
			k, ldc := p.Lines*p.Run, n+r.IntN(3)
			outer := p.Inner*ldc + r.IntN(3)
			a, b := fence(p.last()+1, r.IntN(8)).normal(r), fence(k*n, 0).normal(r)
			panels := fence(f.PanelSize(k, n), 0)
			c := fence((p.Outer-1)*outer+(p.Inner-1)*ldc+n, r.IntN(8)).normal(r)
			before, mask, bias := append([]float32(nil), c.data...), fence(len(c.data), 0).normal(r).data, fence(n, 0).normal(r).data
			ep := Epilogue{Accumulate: r.IntN(2) == 0, ReLU: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				ep.Bias = bias
			}
			if r.IntN(2) == 0 {
				ep.Mask = mask
			}
			f.Pack(k, n, b.data, n, panels.data)
			panels.check(t, "panels")
			if f.Packed(n) {
				identical(t, "a packed matrix", panels.data, b.data)
			}
			f.MulPatches(p, n, a.data, panels.data, c.data, outer, ldc, ep)
			c.check(t, "c")
			inside := make([]bool, len(c.data))
			for row := range p.Outer * p.Inner {
				i, j := row/p.Inner, row%p.Inner
				for col := range n {
					if round == 0 && (row+col)%97 != 0 {
						inside[i*outer+j*ldc+col] = true
						continue
					}
					at := i*outer + j*ldc + col
					inside[at] = true
					want, size := 0.0, 0.0
					if ep.Accumulate {
						want, size = float64(before[at]), math.Abs(float64(before[at]))
					}
					for l := range k {
						x := float64(a.data[i*p.OuterStride+j*p.InnerStride+l/p.Run*p.LineStride+l%p.Run*p.RunStride]) * float64(b.data[l*n+col])
						want, size = want+x, size+math.Abs(x)
					}
					if ep.Bias != nil {
						want, size = want+float64(bias[col]), size+math.Abs(float64(bias[col]))
					}
					if ep.ReLU {
						want = max(0, want)
					}
					if ep.Mask != nil && !(mask[at] > 0) {
						want = 0
					}
					if got := float64(c.data[at]); !(math.Abs(got-want) <= float64(k+4)*0x1p-24*size) {
						t.Fatalf("%+v × %d, %+v: (%d,%d,%d) = %g, want %g", p, n, ep, i, j, col, got, want)
					}
				}
			}
			for at, is := range inside {
				if !is && c.data[at] != before[at] {
					t.Fatalf("%+v × %d: element %d is none of C's and was written", p, n, at)
				}
			}
		}
	})
}

// A row of a product of patches has the same bits whatever other rows there are, so the division of
// an image does not matter.
func TestPatchesCuts(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(33, 34))
		for range 40 {
			p, n := patchesFor(r), 1+r.IntN(70)
			k := p.Lines * p.Run
			a, b, panels := fence(p.last()+1, 0).normal(r).data, fence(k*n, 0).normal(r).data, make([]float32, f.PanelSize(k, n))
			f.Pack(k, n, b, n, panels)
			whole, alone := make([]float32, p.Outer*p.Inner*n), make([]float32, p.Outer*p.Inner*n)
			f.MulPatches(p, n, a, panels, whole, p.Inner*n, n, Epilogue{})
			one := p
			one.Outer, one.Inner = 1, 1
			for row := range p.Outer * p.Inner {
				f.MulPatches(one, n, a[row/p.Inner*p.OuterStride+row%p.Inner*p.InnerStride:], panels, alone[row*n:], n, n, Epilogue{})
			}
			identical(t, "rows alone", alone, whole)
		}
	})
}
