package kernel

import (
	"sync/atomic"
	"unsafe"
)

const (
	// packDepth is the range of k that is packed at once: with two vectors of
	// columns a panel of B takes 16 KiB (AVX2), half of the first-level cache.
	packDepth = 256
	// packHeight is the rows of A that are packed at once: with packDepth a
	// quarter MiB, half of the second-level cache.
	packHeight = 256
	// packStride is the row stride of packed A: no multiple of a page, so that
	// its rows spread over the sets of the caches.
	packStride = 256 + 16
	maxLanes   = 16 // of the widest machine
)

// panels is the memory that a product packs its operands into.
type panels struct {
	b, a     []float32
	alignedB *float32 // at a multiple of 64 bytes
}

// idle are the panels not in use; a product allocates only when more of them
// run at once than ever before.
var idle [32]atomic.Pointer[panels]

func takePanels() *panels {
	for i := range idle {
		if idle[i].Load() != nil {
			if p := idle[i].Swap(nil); p != nil {
				return p
			}
		}
	}
	p := &panels{b: make([]float32, packDepth*2*maxLanes+maxLanes)}
	past := int(uintptr(unsafe.Pointer(&p.b[0])) / 4 % maxLanes)
	p.alignedB = &p.b[(maxLanes-past)%maxLanes]
	return p
}

func (p *panels) give() {
	for i := range idle {
		if idle[i].CompareAndSwap(nil, p) {
			return
		}
	}
}

// scattered says whether A is better copied first: its runs lie so far apart
// that they fall into few sets of the caches, and it is read often enough.
func scattered(n, ars, aks int) bool {
	return n >= 128 && (ars == 1 || aks == 1) && max(ars, aks) >= 512
}

// packA copies the m×k block that begins at a run by run and returns it with its
// strides in bytes: runs along k where aks is 1, else along the rows.
func (p *panels) packA(m, k int, a []float32, ars, aks int) (block *float32, rowStride, depthStride int) {
	if p.a == nil {
		p.a = make([]float32, packStride*max(packHeight, packDepth))
	}
	if aks == 1 {
		for i := range m {
			copy(p.a[i*packStride:i*packStride+k], a[i*ars:])
		}
		return &p.a[0], 4 * packStride, 4
	}
	for l := range k {
		copy(p.a[l*packStride:l*packStride+m], a[l*aks:])
	}
	return &p.a[0], 4, 4 * packStride
}
