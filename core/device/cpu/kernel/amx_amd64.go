package kernel

// The family "amx" is "avx512" with products on AMX: operands are split into three bfloat16 planes
// each, as gen/tiles.go explains. Products that are too small for this to pay off are those of
// "avx512". The choice depends only on the shape, so a call gives the same bits wherever it is
// made.
const (
	minTiledDepth = 32 // with minTiled rows and columns

	unit       = 3 * 256 // float32s of memory per unit
	unitRows   = 16      // of A, or columns of B
	unitDepth  = 32      // steps of k
	blockRows  = 16      // of C, summed at once
	stripWidth = 32      // columns of C
	tiledBlock = blockRows * stripWidth

	// tiledRange is the range of k that is packed at once, and tiledHeight the number of rows of A.
	// Together they take 384 KiB, so that a strip of B and the data in transit fit into the
	// second-level cache beside them.
	tiledRange  = 256
	tiledHeight = 256
	// tiledChunk is the largest number of units of k that are added up at once: a strip of B of
	// that depth stays in the first-level cache while A passes it.
	tiledChunk = 4
	// tiledStrips is the number of strips that one call computes: setting up the tiles takes as
	// long as a dozen of their products.
	tiledStrips  = 2
	stripColumns = tiledStrips * stripWidth

	flagFrom = 4 // adds the product to the matrix at from
	flagMask = 8
)

// tiledMul is C = A·B in blocks of rows, ranges of k and strips of 32 columns. Between two ranges
// the sums are kept in blocks of 16×32.
type tiledMul struct {
	*machine
	operands
	p     *panels
	kept  bool // all of B stays packed
	ahead ahead
}

// tiledFamily returns the family "amx", or why this system cannot run it.
func tiledFamily() (*Family, error) {
	if err := permitTiles(); err != nil {
		return nil, err
	}
	f := avx512.family("amx")
	f.table.gemm = avx512.tiledGemm
	f.table.multiplyAdds = nil // tiles have more of them
	return f, nil
}

func (x *machine) tiledGemm(o operands) {
	if o.m < minTiled || o.n < minTiled || o.k < minTiledDepth {
		x.gemm(o)
		return
	}
	g := tiledMul{machine: x, operands: o, p: takePanels(), kept: o.m > tiledHeight}
	g.room()
	for i := 0; i < o.m; i += tiledHeight {
		g.block(i, min(tiledHeight, o.m-i))
	}
	g.p.give()
}

// up returns n in multiples of a size, rounded up.
func up(n, size int) int { return (n + size - 1) / size }

// room makes the memory for the packed operands large enough.
func (g *tiledMul) room() {
	depth, height := up(min(g.k, tiledRange), unitDepth), up(min(g.m, tiledHeight), blockRows)
	strips := up(g.n, stripWidth)
	b, squares := 2*2*unit*depth*tiledStrips, 1+height*tiledStrips // the extra block is for the epilogue
	if g.kept {
		b = 2 * unit * strips * g.depthUnits()
	}
	if g.k > tiledRange {
		squares = 1 + height*strips
	}
	grow(&g.p.a, unit*depth*height)
	grow(&g.p.b, b)
	grow(&g.p.sums, squares*tiledBlock)
	grow(&g.p.stage, unitRows*stageStride)
}

// depthUnits returns the number of units in all ranges of k.
func (g *tiledMul) depthUnits() int {
	return g.k/tiledRange*(tiledRange/unitDepth) + up(g.k%tiledRange, unitDepth)
}

// block computes m rows of C from row i on.
func (g *tiledMul) block(i, m int) {
	for first := 0; first < g.k; first += tiledRange {
		k := min(tiledRange, g.k-first)
		g.packA(i, m, first, k)
		g.ahead = ahead{}
		for j := 0; j < g.n; j += stripColumns {
			b := g.panel(j, first, k)
			if i == 0 || !g.kept {
				g.packStrips(b, j, first, k)
				g.splitAhead(m, j+stripColumns, first, k)
			}
			g.strips(b, i, m, j, first, up(k, unitDepth))
		}
	}
}

// strips computes m rows of some strips of C over a range of k, one chunk of the range after the
// other.
func (g *tiledMul) strips(b []float32, i, m, j, first, depth int) {
	t := tiledPart{strips: min(tiledStrips, up(g.n-j, stripWidth)), blocks: up(m, blockRows), panel: 4 * unit * depth, b: b}
	t.sums = at(g.p.sums, tiledBlock)
	if g.k > tiledRange {
		t.sums = at(g.p.sums, tiledBlock*(1+j/stripWidth*t.blocks))
	}
	chunks := up(depth, tiledChunk)
	for c := range chunks {
		t.from, t.to = depth*c/chunks, depth*(c+1)/chunks
		t.flags = 0
		if first > 0 || c > 0 {
			t.flags = flagLoad
		}
		if c < chunks-1 || first+tiledRange < g.k {
			g.sum(&t)
		} else {
			g.finish(&t, m, i*g.ldc+j, j)
		}
	}
}

// tiledPart is the part of some strips over some units of k.
type tiledPart struct {
	strips, blocks, panel int
	from, to              int // of the units
	b                     []float32
	sums                  *float32
	flags                 int
}

//go:noinline
func (g *tiledMul) sum(t *tiledPart) {
	amxRange(t.strips, t.blocks, t.to-t.from, t.panel, at(g.p.a, unit*t.from), at(t.b, unit*t.from), t.sums, t.flags, &g.ahead.rows)
}

// finish computes the last chunk, with the epilogue; corner is the first element of C, in column j.
//
//go:noinline
func (g *tiledMul) finish(t *tiledPart, rows, corner, j int) {
	flags := t.flags
	var bias, from, mask *float32
	if g.ep.ReLU {
		flags |= flagReLU
	}
	if g.ep.Bias != nil {
		bias = &g.ep.Bias[j]
	}
	if g.ep.Accumulate {
		flags |= flagFrom
		from = &g.c[corner]
		if g.ep.From != nil {
			from = &g.ep.From[corner]
		}
	}
	if g.ep.Mask != nil {
		flags |= flagMask
		mask = &g.ep.Mask[corner]
	}
	amxProduct(t.strips, t.blocks, t.to-t.from, t.panel, at(g.p.a, unit*t.from), at(t.b, unit*t.from), t.sums, &g.p.sums[0],
		&g.c[corner], 4*g.ldc, rows, min(stripColumns, g.n-j), flags, bias, from, mask, &g.ahead.rows)
}

// stageStride is the row stride of rows of A that are copied before they are split. It is not a
// multiple of a page.
const stageStride = tiledRange + 16

// packA splits m rows of A, from row i on, over a range of k. It applies the product's function, if
// there is one.
func (g *tiledMul) packA(i, m, first, k int) {
	depth := up(k, unitDepth)
	for r := 0; r < m; r += unitRows {
		rows := min(unitRows, m-r)
		src, stride := g.a[(i+r)*g.ars+first*g.aks:], g.ars
		if g.aks != 1 || g.ep.Read != nil {
			g.copyRows(g.machine, g.p.stage, stageStride, rows, k, src)
			src, stride = g.p.stage, stageStride
		}
		dst := g.p.a[r/unitRows*depth*unit:]
		whole, tail := k/unitDepth, k%unitDepth
		if whole > 0 {
			callSplit(whole, rows, &src[0], 4*stride, 4*16, 4*unitDepth, &dst[0], 16, 16)
		}
		if tail > 0 {
			callSplit(1, rows, &src[whole*unitDepth], 4*stride, 4*16, 0, &dst[whole*unit], min(16, tail), max(0, tail-16))
		}
	}
}

//go:noinline
func callSplit(tiles, rows int, src *float32, step, second, tile int, dst *float32, tail0, tail1 int) {
	amxSplit(tiles, rows, src, step, second, tile, dst, tail0, tail1)
}
