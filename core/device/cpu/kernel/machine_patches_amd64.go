package kernel

// linesFunc is a microkernel of products of patches; see patchTiles.
type linesFunc func(blocks, lines, k int, a *float32, ars, aks, jump int, b *float32, c *float32, ldc int, tail, flags int, bias, mask *float32)

// patchTiles holds the microkernels by rows: two whole vectors of columns, two with the last one
// masked, and one masked.
type patchTiles struct{ pair, pairTail, single []linesFunc }

const (
	// maxPatchPanel is the largest number of elements of a strip of B that pass a row's sums at
	// once: 64 KiB.
	maxPatchPanel = 1 << 14
	// patchPanel is that number for larger strips. It is small enough that this part and the pixels
	// that it meets fit into the first-level cache.
	patchPanel = 1 << 12
)

// maxLineWork bounds the work of one linesFunc call, in multiply-adds of vectors.
const maxLineWork = 1 << 21

// multiplyPatches goes through the strips of B one by one, and for each strip through the outer
// rows: the strip stays in the cache meanwhile, and consecutive rows read mostly the same pixels.
func (x *machine) multiplyPatches(o patchwork) {
	strip, k := 2*x.lanes, o.Lines*o.Run
	lines := o.Lines
	if k*strip > maxPatchPanel {
		lines = max(1, patchPanel/(o.Run*strip))
	}
	for j := 0; j < o.n; j += strip {
		width := min(strip, o.n-j)
		kernels := x.patchTiles.pair
		switch {
		case width <= x.lanes:
			kernels = x.patchTiles.single
		case width < strip:
			kernels = x.patchTiles.pairTail
		}
		for first := 0; first < o.Lines; first += lines {
			part := o.part(first, min(lines, o.Lines-first))
			for i := range o.Outer {
				x.patchRows(&part, kernels, at(o.panels, j*k+first*o.Run*strip), i, j, (width-1)%x.lanes+1)
			}
		}
	}
}

// part is the product over some of the lines; the last part applies the epilogue.
func (o patchwork) part(first, lines int) patchwork {
	if first > 0 {
		o.ep.Accumulate = true
	}
	if first+lines < o.Lines {
		o.ep.Bias, o.ep.ReLU, o.ep.Mask = nil, false, nil
	}
	o.a, o.Lines = o.a[first*o.LineStride:], lines
	return o
}

// patchRows divides the inner rows of an outer row evenly over blocks of at most as many rows as
// the largest kernel has.
//
//go:noinline
func (x *machine) patchRows(o *patchwork, kernels []linesFunc, b *float32, outer, j, tail int) {
	var flags int
	if o.ep.Accumulate {
		flags |= flagLoad
	}
	if o.ep.ReLU {
		flags |= flagReLU
	}
	var bias *float32
	if o.ep.Bias != nil {
		bias = at(o.ep.Bias, j)
	}
	most := len(kernels) - 1
	blocks := (o.Inner + most - 1) / most
	rows, larger := o.Inner/blocks, o.Inner%blocks
	jump := 4 * (o.LineStride - o.Run*o.RunStride)
	first := 0
	for n, rows := larger, rows+1; ; n, rows = blocks-larger, rows-1 {
		for limit := max(1, maxLineWork/(2*rows*o.Lines*o.Run)); n > 0; {
			some := min(n, limit)
			c := outer*o.outer + first*o.ldc + j
			var mask *float32
			if o.ep.Mask != nil {
				mask = at(o.ep.Mask, c)
			}
			callLines(kernels[rows], some, o.Lines, o.Run, at(o.a, outer*o.OuterStride+first*o.InnerStride), 4*o.InnerStride, 4*o.RunStride, jump, b, at(o.c, c), 4*o.ldc, tail, flags, bias, mask)
			first += some * rows
			n -= some
		}
		if first == o.Inner {
			return
		}
	}
}

//go:noinline
func callLines(f linesFunc, blocks, lines, k int, a *float32, ars, aks, jump int, b *float32, c *float32, ldc int, tail, flags int, bias, mask *float32) {
	f(blocks, lines, k, a, ars, aks, jump, b, c, ldc, tail, flags, bias, mask)
}
