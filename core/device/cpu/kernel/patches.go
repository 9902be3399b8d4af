package kernel

import "fmt"

// Patches is a matrix whose rows are not stored: its elements are read in place from the windows
// over an image. Row (i,j) of Outer × Inner and column (l,q) of Lines × Run is the element
// i·OuterStride + j·InnerStride + l·LineStride + q·RunStride. An element may be read several times,
// like a pixel under several windows.
type Patches struct {
	Outer, OuterStride int
	Inner, InnerStride int
	Lines, LineStride  int
	Run, RunStride     int
}

// last returns the largest index of an element.
func (p Patches) last() int {
	return (p.Outer-1)*p.OuterStride + (p.Inner-1)*p.InnerStride + (p.Lines-1)*p.LineStride + (p.Run-1)*p.RunStride
}

// Turned are the patches the other way round: rows are the numbers in a window, its lines first, and
// columns the windows.
func (p Patches) Turned() Patches {
	return Patches{
		Outer: p.Lines, OuterStride: p.LineStride, Inner: p.Run, InnerStride: p.RunStride,
		Lines: p.Outer, LineStride: p.OuterStride, Run: p.Inner, RunStride: p.InnerStride,
	}
}

// PanelSize returns how many numbers Pack writes for a matrix of k rows and n columns.
func (f *Family) PanelSize(k, n int) int { return k * f.padded(n) }

// padded returns n rounded up to whole strips.
func (f *Family) padded(n int) int { return (n + f.table.strip - 1) / f.table.strip * f.table.strip }

// Packed reports whether a matrix of n contiguous columns already has the layout that Pack makes of
// it, so that it may be used in place.
func (f *Family) Packed(n int) bool { return n == f.table.strip }

// Pack copies B (k×n, row stride ldb) to panels in the order in which MulPatches reads it: strips
// of columns, one after the other, with the last one padded by zeros.
func (f *Family) Pack(k, n int, b []float32, ldb int, panels []float32) {
	if k <= 0 || n <= 0 {
		return
	}
	if k > 1 && ldb < n {
		panic(fmt.Sprintf("kernel: pack %d×%d with stride %d", k, n, ldb))
	}
	strip := f.table.strip
	b = b[:(k-1)*ldb+n]
	for j := 0; j < n; j += strip {
		width := min(strip, n-j)
		to := panels[j*k : (j+strip)*k]
		for l := range k {
			row := to[l*strip : (l+1)*strip]
			copy(row, b[l*ldb+j:l*ldb+j+width])
			clear(row[width:])
		}
	}
}

// MulPatches computes C = A·B and applies the epilogue's Bias, Accumulate, ReLU and Mask: A is the
// patches p of a, B has n columns and was packed to panels, and row (i,j) of C is at
// c[i*outer+j*ldc].
//
// Every element is one chain of multiply-adds in the order of A's columns, starting with C if it
// accumulates.
func (f *Family) MulPatches(p Patches, n int, a, panels, c []float32, outer, ldc int, ep Epilogue) {
	if p.Outer <= 0 || p.Inner <= 0 || n <= 0 {
		return
	}
	if ep.Read != nil || ep.From != nil {
		panic("kernel: a product of patches reads A and C as they are")
	}
	if p.Lines < 1 || p.Run < 1 || p.InnerStride < 0 || p.OuterStride < 0 || p.LineStride < 0 || p.RunStride < 0 || outer < 0 || ldc < n {
		panic(fmt.Sprintf("kernel: product of patches %+v with %d columns, strides %d, %d", p, n, outer, ldc))
	}
	c = c[:(p.Outer-1)*outer+(p.Inner-1)*ldc+n]
	if ep.Bias != nil {
		ep.Bias = ep.Bias[:n]
	}
	if ep.Mask != nil {
		ep.Mask = ep.Mask[:len(c)]
	}
	f.table.patches(patchwork{p, n, a[:p.last()+1], panels[:p.Lines*p.Run*f.padded(n)], c, outer, ldc, ep})
}

// patchwork describes a product of patches.
type patchwork struct {
	Patches
	n          int
	a          []float32
	panels     []float32
	c          []float32
	outer, ldc int
	ep         Epilogue
}

// plainStrip is the number of columns that the plain kernels pack side by side.
const plainStrip = 4

// plainPatches computes four columns of a row at a time.
func plainPatches(o patchwork) {
	k := o.Lines * o.Run
	for i := range o.Outer {
		for r := range o.Inner {
			first, at := i*o.OuterStride+r*o.InnerStride, i*o.outer+r*o.ldc
			row := o.c[at : at+o.n]
			for j := 0; j < o.n; j += plainStrip {
				panel := o.panels[j*k : (j+plainStrip)*k]
				var s [plainStrip]float32
				if o.ep.Accumulate {
					copy(s[:], row[j:])
				}
				for l := range o.Lines {
					x, b := first+l*o.LineStride, panel[l*o.Run*plainStrip:]
					for q := range o.Run {
						v, b := o.a[x+q*o.RunStride], b[q*plainStrip:(q+1)*plainStrip]
						s[0] += v * b[0]
						s[1] += v * b[1]
						s[2] += v * b[2]
						s[3] += v * b[3]
					}
				}
				copy(row[j:], s[:])
			}
			plainFinish(row, at, o.ep)
		}
	}
}
