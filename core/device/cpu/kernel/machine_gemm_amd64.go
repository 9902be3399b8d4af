package kernel

import "unsafe"

const (
	flagLoad  = 1 // the sums start with the matrix at from
	flagReLU  = 2
	flagApart = 4 // and that matrix is not C

	// packRows is the number of rows of A from which packing B pays off.
	packRows = 24
	// plainDepth bounds the time of one call if B is not packed.
	plainDepth = 4096
	// callRows bounds the time in the other direction.
	callRows = 768
)

// matmul is C = A·B cut into blocks of rows, ranges of k and strips of columns, so that a block of
// A stays in the second-level cache while all of B passes it, and a panel of B in the first-level
// cache while the block passes it. Between two ranges the sums of a block are kept in separate
// compact strips: rows of C may be pages apart, and few of those fit the cache at once. Cutting
// does not change a bit of C: its sums are stored and loaded again unchanged.
type matmul struct {
	*machine
	operands
	p             *panels // nil: B is used in place
	depth, height int     // of ranges and blocks
	copied, kept  bool    // whether A is copied, and whether all panels of B are kept
}

// strip is a block's columns over a range of k: C[m×width] from A[m×k] and B[k×width]. Strides are
// in bytes.
type strip struct {
	m, k     int
	a        *float32
	ars, aks int
	b        *float32
	ldb      int
	from     *float32
	ldf      int
	c        *float32
	ldc      int
	flags    int
	bias     *float32
	mask     *float32
	coming   coming
	turn     int // steps of k per line of the memory to prefetch
}

func (x *machine) gemm(o operands) {
	g := matmul{machine: x, operands: o, depth: plainDepth, height: o.m}
	if o.k > 0 && (o.bcs != 1 || o.ep.Read != nil || o.m >= packRows && o.n > x.lanes) {
		g.p, g.depth, g.copied = takePanels(), packDepth, o.ep.Read != nil || scattered(o.n, o.ars, o.aks)
		if g.copied || o.k > packDepth {
			g.height = packHeight
		}
		panel := x.fullVecs * x.lanes * packDepth
		all := o.k * g.padded()
		if g.kept = o.m > g.height && all <= maxKept; g.kept {
			panel = all
		}
		grow(&g.p.b, panel)
		if o.k > packDepth {
			grow(&g.p.sums, min(o.m, g.height)*(o.n+2*x.lanes))
		}
	}
	for i := 0; i < o.m; i += g.height {
		g.block(i, min(g.height, o.m-i))
	}
	if g.p != nil {
		g.p.give()
	}
}

// block computes m rows of C from row i on.
func (g *matmul) block(i, m int) {
	for first := 0; ; first += g.depth {
		s := strip{m: m, k: min(g.depth, g.k-first), ars: 4 * g.ars, aks: 4 * g.aks}
		last := first+s.k == g.k
		if g.copied {
			s.a, s.ars, s.aks = g.packA(m, s.k, g.a[i*g.ars+first*g.aks:])
		} else if g.k > 0 {
			s.a = at(g.a, i*g.ars+first*g.aks)
		}
		for j := 0; j < g.n; {
			width := g.width(m, g.n-j)
			g.place(&s, i, j, first, width, last)
			g.strip(&s, i, j, first, width)
			j += width
		}
		if last {
			return
		}
	}
}

// place sets where a strip's sums come from and go to.
func (g *matmul) place(s *strip, i, j, first, width int, last bool) {
	s.flags, s.bias, s.mask = 0, nil, nil
	s.c, s.ldc = at(g.c, i*g.ldc+j), 4*g.ldc
	s.from, s.ldf = s.c, s.ldc
	sums, stride := s.c, s.ldc
	if g.p != nil && g.depth < g.k {
		sums, stride = at(g.p.sums, j*s.m), 4*g.span(width)
	}
	if first > 0 {
		s.from, s.ldf, s.flags = sums, stride, flagLoad
	} else if g.ep.Accumulate {
		s.flags = flagLoad
		if g.ep.From != nil {
			s.from = at(g.ep.From, i*g.ldc+j)
		}
	}
	if !last {
		s.c, s.ldc = sums, stride
	}
	if s.flags == flagLoad && s.from != s.c {
		s.flags |= flagApart
	}
	if !last {
		return
	}
	if g.ep.ReLU {
		s.flags |= flagReLU
	}
	if g.ep.Bias != nil {
		s.bias = at(g.ep.Bias, j)
	}
	if g.ep.Mask != nil {
		s.mask = at(g.ep.Mask, i*g.ldc+j)
	}
}

// width returns the number of remaining columns that the next strip takes. Two strips of two
// vectors are better than one of three and one of a single vector.
func (g *matmul) width(m, columns int) int {
	if g.p == nil && m < len(g.wide) {
		if w := g.wideVecs[m] * g.lanes; columns >= w {
			return w
		}
	}
	if w := g.fullVecs * g.lanes; g.p != nil && columns >= w && (columns <= w || columns > 4*g.lanes) {
		return w
	}
	return min(columns, 2*g.lanes)
}

// strip computes one strip with the microkernels of its width.
func (g *matmul) strip(s *strip, i, j, first, width int) {
	tail := (width-1)%g.lanes + 1
	kernels := g.pair
	s.coming = coming{}
	switch {
	case width > 2*g.lanes && g.p == nil:
		kernels = g.wide
	case width > 2*g.lanes:
		kernels = g.full
	case width <= g.lanes:
		kernels = g.single
	case width < 2*g.lanes:
		kernels = g.pairTail
	}
	if g.p == nil || g.bcs == 1 && width <= g.lanes {
		if g.k > 0 {
			s.b, s.ldb = at(g.b, first*g.brs+j), 4*g.brs
		}
	} else {
		panel := g.panel(s.k, j, first, width)
		s.b, s.ldb = &panel[0], 4*g.span(width)
		if i == 0 || !g.kept {
			g.packB(panel, s.k, j, first, width)
		}
		s.coming = g.coming(s, i, j, first, width)
		s.turn = 4
		if width > 2*g.lanes {
			s.turn = 8
		}
	}
	for r := 0; r < s.m; r += callRows {
		g.rows(s, kernels, r, min(callRows, s.m-r), tail)
	}
}

// rows divides m rows of a strip, from row i on, evenly over blocks of at most as many rows as the
// largest kernel has, so that no small remainder runs at a fraction of the speed: 128 rows are 18
// blocks of 6 and 4 of 5.
//
//go:noinline
func (x *machine) rows(s *strip, kernels []tileFunc, i, m int, tail int) {
	most := len(kernels) - 1
	blocks := (m + most - 1) / most
	rows, larger := m/blocks, m%blocks
	parts := [2][2]int{{larger, rows + 1}, {blocks - larger, rows}}
	for at := 0; at < len(parts); {
		blocks, rows := parts[at][0], parts[at][1]
		if blocks == 0 {
			at++
			continue
		}
		w, lines := s.coming.present(), s.k/max(1, s.turn)
		if w == nil {
			w = &walk{next: uintptr(unsafe.Pointer(s.b)), run: 1 << 30, left: 1 << 30} // stays in place
		} else if lines > 0 {
			blocks = min(blocks, up(w.lines, lines))
		}
		parts[at][0] -= blocks
		var a, mask *float32
		if s.k > 0 {
			a = offset(s.a, i*s.ars)
		}
		if s.mask != nil {
			mask = offset(s.mask, i*s.ldc)
		}
		kernels[rows](blocks, s.k, a, s.ars, s.aks, s.b, s.ldb, offset(s.from, i*s.ldf), s.ldf, offset(s.c, i*s.ldc), s.ldc, tail, s.flags, s.bias, mask, w.next, w.step, w.run, w.skip, w.left)
		w.advance(blocks * lines)
		i += blocks * rows
	}
}

// offset returns p plus some bytes.
func offset(p *float32, bytes int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), bytes))
}

// dotElements bounds the elements of A that one call of the dot products reads.
const dotElements = 1 << 16

func (x *machine) rowDots(m, k int, a []float32, lda int, w []float32, bias float32, out []float32, ldo int) {
	block := max(1, dotElements/(4*k))
	i := 0
	for ; i+4 <= m; i += 4 * block {
		block = min(block, (m-i)/4)
		x.dots(x.rowDot4, block, k, at(a, i*lda), lda, at(w, 0), bias, at(out, i*ldo), ldo)
	}
	if i < m {
		x.dots(x.rowDot1, m-i, k, at(a, i*lda), lda, at(w, 0), bias, at(out, i*ldo), ldo)
	}
}

//go:noinline
func (x *machine) dots(f func(blocks, k int, a *float32, lda int, w *float32, bias float32, out *float32, ldo int), blocks, k int, a *float32, lda int, w *float32, bias float32, out *float32, ldo int) {
	f(blocks, k, a, 4*lda, w, bias, out, 4*ldo)
}

// colSums adds the rows from the second one on to a copy of the first.
func (x *machine) colSums(m, n int, a []float32, lda int, out []float32) {
	const rows = 256
	copy(out, a[:n])
	for i := 1; i < m; i += rows {
		for j := 0; j < n; {
			j += x.stripe(min(rows, m-i), n-j, at(a, i*lda+j), lda, at(out, j))
		}
	}
}

// stripe sums up to 1,024 columns, or those of one vector, and returns how many.
//
//go:noinline
func (x *machine) stripe(m, n int, a *float32, lda int, out *float32) int {
	if eight := 8 * x.lanes; n >= eight {
		n = min(n-n%eight, 1024)
		x.colSum8(m, n, a, 4*lda, out)
		return n
	}
	n = min(n, x.lanes)
	x.colSum1(m, n, a, 4*lda, out)
	return n
}

// transposes handles blocks of 16×8 and 8×8 in assembly, and the edges in Go.
func (x *machine) transposes(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	const blocks = 256 // of one call
	whole := cols &^ 7
	i := 0
	for i+8 <= rows {
		height, f := 8, x.transpose8
		if i+16 <= rows {
			height, f = 16, x.transpose16
		}
		for j := 0; j < whole; j += 8 * blocks {
			callTranspose(f, min(blocks, (whole-j)/8), at(src, i*lds+j), lds, at(dst, j*ldd+i), ldd)
		}
		i += height
	}
	if whole < cols && i > 0 {
		plainTranspose(i, cols-whole, src[whole:], lds, dst[whole*ldd:], ldd)
	}
	if i < rows {
		plainTranspose(rows-i, cols, src[i*lds:], lds, dst[i:], ldd)
	}
}

//go:noinline
func callTranspose(f func(blocks int, src *float32, lds int, dst *float32, ldd int), blocks int, src *float32, lds int, dst *float32, ldd int) {
	f(blocks, src, 4*lds, dst, 4*ldd)
}
