package kernel

import (
	"sync/atomic"
	"unsafe"
)

const maxLanes = 16 // of the widest machine

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
