package kernel

import "unsafe"

const (
	flagLoad = 1 // the sums start with C
	flagReLU = 2

	// packRows is from how many rows of A on packing B pays.
	packRows = 24
	// plainDepth bounds the time of one call where B is not packed.
	plainDepth = 4096
	// callRows bounds it in the other direction.
	callRows = 768
)

// strip is some columns of a product, over a range of k: C[m×width] from
// A[m×k] and B[k×width]. Strides are in bytes.
type strip struct {
	m, k     int
	a        *float32
	ars, aks int
	b        *float32
	ldb      int
	c        *float32
	ldc      int
	flags    int
	bias     *float32
	mask     *float32
}

// gemm cuts k into ranges, the rows into blocks and the columns into strips, so
// that a block of A stays in the second-level cache while all of B passes it,
// and a panel of B in the first while the block passes it. No cut changes a bit
// of C: its sums are stored and loaded again as they are.
func (x *machine) gemm(m, n, k int, a []float32, ars, aks int, b []float32, ldb int, c []float32, ldc int, ep Epilogue) {
	var p *panels
	depth, height, copied := plainDepth, m, false
	if m >= packRows && n > x.lanes && k > 0 {
		p, depth = takePanels(), packDepth
		if copied = scattered(n, ars, aks); copied {
			height = packHeight
		}
	}
	for first := 0; ; first += depth {
		s := strip{k: min(depth, k-first), ldb: 4 * ldb, ldc: 4 * ldc}
		last := first+s.k == k
		if ep.Accumulate || first > 0 {
			s.flags = flagLoad
		}
		if last && ep.ReLU {
			s.flags |= flagReLU
		}
		for i := 0; i < m; i += height {
			s.m, s.ars, s.aks = min(height, m-i), 4*ars, 4*aks
			if copied {
				s.a, s.ars, s.aks = p.packA(s.m, s.k, a[i*ars+first*aks:], ars, aks)
			} else if k > 0 {
				s.a = at(a, i*ars+first*aks)
			}
			for j := 0; j < n; {
				width := x.width(m, n-j)
				s.c = at(c, i*ldc+j)
				if k > 0 {
					s.b = at(b, first*ldb+j)
				}
				if last && ep.Bias != nil {
					s.bias = at(ep.Bias, j)
				}
				if last && ep.Mask != nil {
					s.mask = at(ep.Mask, i*ldc+j)
				}
				x.strip(&s, p, width)
				j += width
			}
		}
		if last {
			break
		}
	}
	if p != nil {
		p.give()
	}
}

// width is how many of the remaining columns the next strip takes.
func (x *machine) width(m, columns int) int {
	if m < len(x.wide) {
		if w := x.wideVecs[m] * x.lanes; columns >= w {
			return w
		}
	}
	return min(columns, 2*x.lanes)
}

// strip computes one strip with the microkernels of its width.
//
//go:noinline
func (x *machine) strip(s *strip, p *panels, width int) {
	tail := (width-1)%x.lanes + 1
	kernels := x.pair
	switch {
	case width > 2*x.lanes:
		kernels = x.wide
	case width <= x.lanes:
		kernels, p = x.single, nil
	case width < 2*x.lanes:
		kernels = x.pairTail
	}
	b, ldb := s.b, s.ldb
	if p != nil {
		pack := x.pack
		if tail < x.lanes {
			pack = x.packTail
		}
		pack(s.k, b, ldb, p.alignedB, tail)
		b, ldb = p.alignedB, 8*x.lanes
	}
	for i := 0; i < s.m; i += callRows {
		x.rows(s, kernels, i, min(callRows, s.m-i), b, ldb, tail)
	}
}

// rows divides m rows from row i on evenly over blocks of at most as many rows
// as the largest kernel has, so that no small rest runs at a fraction of the
// speed: 128 rows are 18 blocks of 6 and 4 of 5.
//
//go:noinline
func (x *machine) rows(s *strip, kernels []tileFunc, i, m int, b *float32, ldb, tail int) {
	most := len(kernels) - 1
	blocks := (m + most - 1) / most
	rows, larger := m/blocks, m%blocks
	for _, part := range [2][2]int{{larger, rows + 1}, {blocks - larger, rows}} {
		blocks, rows := part[0], part[1]
		if blocks == 0 {
			continue
		}
		c := offset(s.c, i*s.ldc)
		var a, mask *float32
		if s.k > 0 {
			a = offset(s.a, i*s.ars)
		}
		if s.mask != nil {
			mask = offset(s.mask, i*s.ldc)
		}
		kernels[rows](blocks, s.k, a, s.ars, s.aks, b, ldb, c, s.ldc, tail, s.flags, s.bias, mask)
		i += blocks * rows
	}
}

// offset is p plus some bytes.
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

// colSums adds the rows from the second on to a copy of the first.
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

// transposes does blocks of 16×8 and 8×8, and the edges in Go.
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
