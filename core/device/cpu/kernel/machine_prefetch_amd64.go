package kernel

import "unsafe"

// line is a cache line, in bytes.
const line = 64

// A walk is memory to be prefetched, line by line, while something else is computed: no hardware
// prefetcher follows a stride of pages, and a load from memory takes as long as a hundred
// multiply-adds. A walk holds an address rather than a pointer, because it may step past the end of
// an object. Distances are in bytes.
type walk struct {
	next            uintptr
	step, run, skip int // distance from line to line, lines of a run, and extra distance after a run
	left            int // lines left in the current run
	lines           int // in all
}

// along returns a walk over runs of lines; lines are step bytes apart, and runs begin stride bytes
// apart.
func along(start *float32, step, run, stride, runs int) walk {
	return walk{uintptr(unsafe.Pointer(start)), step, run, stride - step*run, run, run * runs}
}

// advance moves on by some lines.
func (w *walk) advance(lines int) {
	w.lines -= lines
	for lines > 0 {
		n := min(lines, w.left)
		w.next += uintptr(n * w.step)
		lines -= n
		if w.left -= n; w.left == 0 {
			w.next += uintptr(w.skip)
			w.left = w.run
		}
	}
}

// coming is what is prefetched during a strip, one walk after the other.
type coming [2]walk

// present returns the current walk, or nil after the last.
func (c *coming) present() *walk {
	for i := range c {
		if c[i].lines > 0 {
			return &c[i]
		}
	}
	return nil
}

// coming returns what strips after this one pack: the next strip of B, and a share of the next
// block of A.
func (g *matmul) coming(s *strip, i, j, first, width int) (c coming) {
	end, nextI, nextFirst := j+width, i, first
	if end < g.n {
		c[0] = g.comingB(s.m, i, end, first)
	}
	if nextFirst += s.k; nextFirst == g.k {
		nextI, nextFirst = i+g.height, 0
	}
	if nextI >= g.m {
		return c
	}
	if end == g.n {
		c[0] = g.comingB(s.m, nextI, 0, nextFirst)
	}
	if g.copied {
		c[1] = g.comingA(nextI, nextFirst, j, end)
	}
	return c
}

// comingB walks over a strip of B as it will be read: in place, or packed.
func (g *matmul) comingB(m, i, j, first int) walk {
	k, width := min(g.depth, g.k-first), g.width(m, g.n-j)
	if i > 0 && g.kept {
		return along(&g.panel(k, j, first, width)[0], line, 4*k*g.span(width)/line, 0, 1)
	}
	start := at(g.b, first*g.brs+j*g.bcs)
	if g.bcs == 1 {
		return along(start, 4*g.brs, k, line, up(4*width, line))
	}
	return along(start, line, up(4*k, line), 4*g.bcs, width)
}

// comingA walks over a share of a block of A, the same share that the strips from column j to end
// are of all strips.
func (g *matmul) comingA(i, first, j, end int) walk {
	inner, outer := min(g.depth, g.k-first), min(g.height, g.m-i)
	stride := g.ars
	if g.aks != 1 {
		inner, outer, stride = outer, inner, g.aks
	}
	from, to := outer*j/g.n, outer*end/g.n
	return along(at(g.a, i*g.ars+first*g.aks+from*stride), line, up(4*inner, line), 4*stride, to-from)
}
