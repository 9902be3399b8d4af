package kernel

const (
	// packDepth is the range of k that is packed at once: a panel of B takes 24 KiB
	// (AVX2), three quarters of the first-level cache.
	packDepth = 256
	// packHeight is the number of rows of A that are packed at once: with packDepth they take a
	// quarter MiB, half of the second-level cache.
	packHeight = 256
	// packStride is the row stride of packed A. It is not a multiple of a page, so that the rows
	// spread over the sets of the caches.
	packStride = 256 + 16
	// maxKept bounds the elements of a B whose panels are all kept, for products
	// of many rows.
	maxKept = 1 << 23
)

// scattered reports whether A should be copied first: its runs are so far apart that they fall into
// few sets of the caches, and it is read often enough.
func scattered(n, ars, aks int) bool {
	return n >= 128 && (ars == 1 || aks == 1) && max(ars, aks) >= 512
}

// packA copies the m×k block at the beginning of a, applying the product's function if there is
// one, and returns it with its strides in bytes. The copy is always by rows, because a kernel that
// walks along columns touches a cache line for every element.
func (g *matmul) packA(m, k int, a []float32) (block *float32, rowStride, depthStride int) {
	p := g.p
	grow(&p.a, packStride*packHeight)
	g.copyRows(g.machine, p.a, packStride, m, k, a)
	return &p.a[0], 4 * packStride, 4
}

// copyRows copies the m×k block of A that begins at a, applying the product's function if there is
// one, so that the elements of every row are contiguous and rows are stride apart.
func (o *operands) copyRows(x *machine, dst []float32, stride, m, k int, a []float32) {
	row := func(i int) []float32 { return dst[i*stride : i*stride+k] }
	switch {
	case o.aks == 1 && o.ep.Read != nil:
		for i := range m {
			o.ep.Read(row(i), a[i*o.ars:i*o.ars+k])
		}
		return
	case o.aks == 1:
		for i := range m {
			copy(row(i), a[i*o.ars:])
		}
	case o.ars == 1:
		x.transposes(k, m, a, o.aks, dst, stride)
	default:
		for i := range m {
			for l, to := 0, row(i); l < k; l++ {
				to[l] = a[i*o.ars+l*o.aks]
			}
		}
	}
	if o.ep.Read != nil {
		for i := range m {
			o.ep.Read(row(i), row(i))
		}
	}
}

// span is the row stride of a packed strip.
func (g *matmul) span(width int) int { return max(width, 2*g.lanes) }

// padded is the number of columns of all strips together, or more.
func (g *matmul) padded() int { return (g.n+g.lanes-1)/g.lanes*g.lanes + g.lanes }

// panel returns the memory of the strip at column j of the k rows from first on.
func (g *matmul) panel(k, j, first, width int) []float32 {
	at := 0
	if g.kept {
		at = first*g.padded() + k*j
	}
	return g.p.b[at : at+k*g.span(width)]
}

// packB copies width columns of k rows of B next to each other; with fewer than two vectors the
// lanes after them are zeros.
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
