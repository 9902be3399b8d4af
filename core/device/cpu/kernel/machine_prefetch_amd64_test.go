package kernel

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// A walk reaches every line of its runs once and in order, whatever the size of its pieces.
func TestWalkComesToEveryLine(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		step, run, runs := line*(1+r.IntN(3)), 1+r.IntN(9), 1+r.IntN(9)
		stride := step*run + line*r.IntN(4)
		memory := make([]float32, runs*stride/4+1)
		w := along(&memory[0], step, run, stride, runs)
		start, seen := w.next, 0
		for w.lines > 0 {
			if want := start + uintptr(seen/run*stride+seen%run*step); w.next != want {
				t.Fatalf("%d runs of %d: line %d is %d bytes from the first, want %d", runs, run, seen, w.next-start, want-start)
			}
			n := 1 + r.IntN(w.lines)
			w.advance(n)
			seen += n
		}
		if seen != run*runs {
			t.Fatalf("%d lines, want %d runs of %d", seen, runs, run)
		}
	}
}

// What is prefetched lies within the operands: a strip's share of the next block of A, and the
// whole of the next strip of B.
func TestWhatComesIsOfTheOperands(t *testing.T) {
	for _, o := range []operands{
		{m: 700, n: 300, k: 900, ars: 900, aks: 1, brs: 300, bcs: 1},
		{m: 700, n: 300, k: 900, ars: 1, aks: 700, brs: 300, bcs: 1},
		{m: 700, n: 300, k: 900, ars: 900, aks: 1, brs: 1, bcs: 900},
	} {
		o.a, o.b = make([]float32, o.m*o.k), make([]float32, o.k*o.n)
		g := matmul{machine: avx2, operands: o, p: &panels{}, depth: packDepth, height: packHeight, copied: true}
		const i, first, j = 256, 256, 48
		a, b := &g.a[i*o.ars+2*first*o.aks], &g.b[first*o.brs+(j+24)*o.bcs]
		c := g.coming(&strip{m: 256, k: 256}, i, j, first, 24)
		if got := c[0].next; got != address(b) {
			t.Errorf("%+v: B begins %d bytes from its strip", o, int(got)-int(address(b)))
		}
		from := 256 * j / o.n
		if want := address(a) + uintptr(4*from*max(o.ars, o.aks)); c[1].next != want {
			t.Errorf("A begins %d bytes from its block", int(c[1].next)-int(want))
		}
		if lines := 256 * 24 * 4 / line; c[0].lines < lines || c[0].lines > lines*3/2 {
			t.Errorf("%d lines of B, want some %d", c[0].lines, lines)
		}
		for _, w := range c {
			end := address(&g.a[len(g.a)-1])
			if w.next < address(&g.a[0]) || w.next > end {
				end = address(&g.b[len(g.b)-1])
			}
			if w.advance(w.lines - 1); w.next > end+line {
				t.Errorf("a walk goes %d bytes too far", w.next-end)
			}
		}
	}
}

func address(p *float32) uintptr { return uintptr(unsafe.Pointer(p)) }
