package kernel

import (
	"sync/atomic"
	"unsafe"
)

const maxLanes = 16 // of the widest machine

// panels is the memory into which a product packs its operands.
type panels struct {
	b    []float32 // aligned to 64 bytes
	a    []float32 // a block of A, by rows
	sums []float32 // of a block of C, strip by strip
	// stage holds a few rows on their way to a.
	stage []float32
}

// idle holds the panels not in use; a product allocates only if more products run at once than ever
// before, or larger ones.
var idle [32]atomic.Pointer[panels]

func takePanels() *panels {
	start := worker()
	for i := range idle {
		i = (start + i) % len(idle)
		if idle[i].Load() != nil {
			if p := idle[i].Swap(nil); p != nil {
				return p
			}
		}
	}
	return &panels{}
}

func (p *panels) give() {
	start := worker()
	for i := range idle {
		if idle[(start+i)%len(idle)].CompareAndSwap(nil, p) {
			return
		}
	}
}

// worker returns a number that a goroutine keeps as long as its stack does not move. The last
// goroutine to pack into panels has them in its cache, so it looks for them first.
//
//go:noinline
func worker() int {
	var here byte
	return int(uintptr(unsafe.Pointer(&here)) >> 13 % uintptr(len(idle)))
}

// grow makes memory of the panels large enough.
func grow(x *[]float32, n int) {
	if len(*x) < n {
		*x = alignedTo64(n)
	}
}

func alignedTo64(n int) []float32 {
	x := make([]float32, n+maxLanes)
	past := int(uintptr(unsafe.Pointer(&x[0])) / 4 % maxLanes)
	return x[(maxLanes-past)%maxLanes:][:n]
}
