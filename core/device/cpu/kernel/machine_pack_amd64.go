package kernel

import (
	"sync/atomic"
	"unsafe"
)

const (
	// packDepth is the range of k that is packed at once: a panel of B takes 24 KiB
	// (AVX2), three quarters of the first-level cache.
	packDepth = 256
	// packHeight is the rows of A that are packed at once: with packDepth a
	// quarter MiB, half of the second-level cache.
	packHeight = 256
	// packStride is the row stride of packed A: no multiple of a page, so that
	// its rows spread over the sets of the caches.
	packStride = 256 + 16
	// mostKept bounds the elements of a B whose panels are all kept, for products
	// of many rows.
	mostKept = 1 << 23
	maxLanes = 16 // of the widest machine
)

// panels is the memory that a product packs its operands into.
type panels struct {
	b    []float32 // at a multiple of 64 bytes
	a    []float32 // a block of A, by rows
	sums []float32 // of a block of C, strip by strip
}

// idle are the panels not in use; a product allocates only when more of them
// run at once than ever before, or larger ones.
var idle [32]atomic.Pointer[panels]

func takePanels() *panels {
	for i := range idle {
		if idle[i].Load() != nil {
			if p := idle[i].Swap(nil); p != nil {
				return p
			}
		}
	}
	return &panels{}
}

func (p *panels) give() {
	for i := range idle {
		if idle[i].CompareAndSwap(nil, p) {
			return
		}
	}
}

// room makes the memory large enough; sums only where there are several ranges.
func (p *panels) room(b, sums int, ranges bool) {
	if len(p.b) < b {
		p.b = alignedTo64(b)
	}
	if ranges && len(p.sums) < sums {
		p.sums = alignedTo64(sums)
	}
}

func alignedTo64(n int) []float32 {
	x := make([]float32, n+maxLanes)
	past := int(uintptr(unsafe.Pointer(&x[0])) / 4 % maxLanes)
	return x[(maxLanes-past)%maxLanes:][:n]
}

// scattered says whether A is better copied first: its runs lie so far apart
// that they fall into few sets of the caches, and it is read often enough.
func scattered(n, ars, aks int) bool {
	return n >= 128 && (ars == 1 || aks == 1) && max(ars, aks) >= 512
}

// packA copies the m×k block at the begin of a and returns it with its strides in
// bytes: by rows in any case, because a kernel that walks along columns touches
// a cache line for every element.
func (g *matmul) packA(m, k int, a []float32) (block *float32, rowStride, depthStride int) {
	p := g.p
	if p.a == nil {
		p.a = make([]float32, packStride*packHeight)
	}
	if g.aks == 1 {
		for i := range m {
			copy(p.a[i*packStride:i*packStride+k], a[i*g.ars:])
		}
	} else {
		g.transposes(k, m, a, g.aks, p.a, packStride)
	}
	return &p.a[0], 4 * packStride, 4
}

// span is the row stride of a strip that is packed.
func (g *matmul) span(width int) int { return max(width, 2*g.lanes) }

// padded is the number of columns of all strips together, or more.
func (g *matmul) padded() int { return (g.n+g.lanes-1)/g.lanes*g.lanes + g.lanes }

// panel is where the strip at column j of the k rows from first on stands.
func (g *matmul) panel(k, j, first, width int) []float32 {
	at := 0
	if g.kept {
		at = first*g.padded() + k*j
	}
	return g.p.b[at : at+k*g.span(width)]
}

// packB copies width columns of k rows of B side by side; with fewer than two
// vectors the lanes behind are zeros.
func (g *matmul) packB(panel []float32, k, j, first, width int) {
	if g.bcs != 1 {
		span := g.span(width)
		if width < span {
			clear(panel)
		}
		g.transposes(width, k, g.b[j*g.bcs+first:], g.bcs, panel, span)
		return
	}
	if width == g.fullVecs*g.lanes {
		callPack(g.packFull, k, at(g.b, first*g.brs+j), g.brs, &panel[0], g.lanes)
		return
	}
	f, tail := g.pack, (width-1)%g.lanes+1
	if tail < g.lanes {
		f = g.packTail
	}
	callPack(f, k, at(g.b, first*g.brs+j), g.brs, &panel[0], tail)
}

//go:noinline
func callPack(f packFunc, k int, src *float32, lds int, dst *float32, tail int) {
	f(k, src, 4*lds, dst, tail)
}
