package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// splitAhead is a set of columns of a matrix that are split while a product is computed.
type splitAhead struct {
	panels, units, depth, stride, quota int

	src, got []float32
	left     uint64 // rows that are not split yet

	state  []byte
	result func() []float32
}

func newSplitAhead(r *rand.Rand, quota int) *splitAhead {
	a := &splitAhead{panels: 1 + r.IntN(4), units: 1 + r.IntN(3), quota: quota}
	a.depth = a.units + r.IntN(2)
	a.stride = 16*a.panels + r.IntN(3)
	a.src = normal(r, (32*a.units-1)*a.stride+16*a.panels)
	return a
}

// rows returns the number of rows of all tiles.
func (a *splitAhead) rows() int { return 16 * a.panels * a.units }

// put gives the emulator the state in which nothing is split yet, or the state of having nothing to
// do.
func (a *splitAhead) put(e program) uint64 {
	if a == nil {
		return e.place(make([]byte, aheadSkip+8))
	}
	a.state = make([]byte, aheadSkip+8)
	src, _ := e.put(a.src)
	dst, result := e.put(make([]float32, a.panels*a.depth*unitWords))
	a.result = result
	tile := 4 * 32 * a.stride
	for at, v := range map[int]int{
		aheadRows: a.rows(), aheadQuota: a.quota, aheadSrc: int(src), aheadDst: int(dst), aheadStep: 4 * a.stride, aheadHalf: tile / 2,
		aheadLeft: 16, aheadUnit: a.units, aheadUnits: a.units, aheadPanel: 64 - a.units*tile, aheadSkip: (a.depth - a.units) * unitBytes,
	} {
		binary.LittleEndian.PutUint64(a.state[at:], uint64(v))
	}
	return e.place(a.state)
}

// take keeps what has been split.
func (a *splitAhead) take() {
	if a != nil {
		a.got, a.left = a.result(), binary.LittleEndian.Uint64(a.state[aheadRows:])
	}
}

// want returns the first rows as split by the function that does nothing else.
func (a *splitAhead) want(e program, rows int) []float32 {
	out := make([]float32, a.panels*a.depth*unitWords)
	for p := range a.panels {
		for u := range a.units {
			some := min(16, rows)
			if rows -= some; some == 0 {
				return out
			}
			copy(out[(p*a.depth+u)*unitWords:], e.split(a.src[32*u*a.stride+16*p:], some, a.stride, 16*a.stride, 16, 16))
		}
	}
	return out
}

// TestSplitAhead checks that columns split beside a product are the same as when they are split
// alone, for as many rows as fit in the slots, with every quota and over two calls; that nothing
// else is written; and that the product is the same as without them.
func TestSplitAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	e := tiled(t)
	short, full := 0, 0
	for i := range 16 {
		p, first := newTileProduct(r), i%2
		p.k = 64 + r.IntN(33)
		p.lda = p.k
		p.a, p.b = normal(r, p.m*p.k), normal(r, p.k*p.ldb)
		a := newSplitAhead(r, 1+i%5)
		what := fmt.Sprintf("%d×%d×%d from unit %d, %d panels of %d units, %d at once", p.m, p.n, p.k, first, a.panels, a.units, a.quota)
		equal(t, what, p.run(e, first, a), p.run(e, first, nil))

		blocks, strips, depth := (p.m+15)/16, (p.n+31)/32, (p.k+31)/32
		places := slots * blocks * strips * (depth - 1) // the first step of a block in Product has the epilogue instead
		done := min(a.rows(), places*a.quota)
		if int(a.left) != a.rows()-done {
			t.Fatalf("%s: %d of %d rows are left after %d slots", what, a.left, a.rows(), places)
		}
		equal(t, what, a.got, a.want(e, done))
		if done < a.rows() {
			short++
		} else {
			full++
		}
	}
	if short == 0 || full == 0 {
		t.Errorf("%d were cut short, %d were not: want both", short, full)
	}
}
