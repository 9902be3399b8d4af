package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (g *gen) reductions() {
	g.rowDot(1)
	g.rowDot(4)
	g.colSum(8)
	g.colSum(1)
	g.squares("Squares1", "func(n int, a *float32) float64", []string{"a"},
		func(in []vec) vec { return in[0] })
	g.squares("Squares2", "func(n int, a, b *float32) float64", []string{"a", "b"},
		func(in []vec) vec { return g.add(in[0], in[1]) })
	g.squares("SquaresDiff", "func(n int, a, b *float32) float64", []string{"a", "b"},
		func(in []vec) vec { return g.sub(in[0], in[1]) })
}

// rowDot emits the dot products of blocks·rows rows with w. Every row has two sums, for even and
// odd vectors, so that its bits do not depend on how many rows are processed together. Strides are
// in bytes.
func (g *gen) rowDot(rows int) {
	g.begin(fmt.Sprintf("RowDot%d", rows), "func(blocks, k int, a *float32, lda int, w *float32, bias float32, out *float32, ldo int)")
	blocks, lda, w0 := g.arg("blocks"), g.arg("lda"), g.arg("w")
	base, out, ldo := g.arg("a"), g.arg("out"), g.arg("ldo")
	lda3 := g.GP64()
	if rows > 1 {
		g.LEAQ(mem{Base: lda, Index: lda, Scale: 2}, lda3)
	}
	rest, restMask := g.GP64(), g.mask()
	g.MOVQ(g.arg("k"), rest)
	g.ANDQ(operand.U32(g.lanes-1), rest)
	g.tail(rest, restMask)
	g.Label("block")
	a, w, k := g.GP64(), g.GP64(), g.arg("k")
	g.MOVQ(base, a)
	g.MOVQ(w0, w)
	row := func(i, vectors int) mem {
		m := mem{Base: a, Disp: vectors * g.bytes()}
		switch i {
		case 1:
			m.Index, m.Scale = lda, 1
		case 2:
			m.Index, m.Scale = lda, 2
		case 3:
			m.Index, m.Scale = lda3, 1
		}
		return m
	}
	sums := make([][2]vec, rows)
	for i := range sums {
		sums[i] = [2]vec{g.zero(), g.zero()}
	}
	step := func(vectors int) {
		for v := range vectors {
			x := g.load(mem{Base: w, Disp: v * g.bytes()})
			for i := range rows {
				g.fma(sums[i][v], x, row(i, v))
			}
		}
		g.ADDQ(operand.U32(vectors*g.bytes()), a)
		g.ADDQ(operand.U32(vectors*g.bytes()), w)
		g.SUBQ(operand.U32(vectors*g.lanes), k)
	}
	g.Label("pair")
	g.CMPQ(k, operand.U32(2*g.lanes))
	g.JLT(operand.LabelRef("one"))
	step(2)
	g.JMP(operand.LabelRef("pair"))
	g.Label("one")
	g.CMPQ(k, operand.U32(g.lanes))
	g.JLT(operand.LabelRef("rest"))
	step(1)
	g.Label("rest")
	g.TESTQ(k, k)
	g.JZ(operand.LabelRef("sum"))
	x := g.vec()
	g.loadTail(mem{Base: w}, restMask, x)
	for i := range rows {
		y := g.vec()
		g.loadTail(row(i, 0), restMask, y)
		g.fma(sums[i][1], x, y)
	}
	g.Label("sum")
	for i := range rows {
		s := g.horizontal(g.add(sums[i][0], sums[i][1]))
		g.VADDSS(g.address("bias"), s, s)
		g.VMOVSS(s, mem{Base: out})
		g.ADDQ(ldo, out)
		g.ADDQ(lda, base)
	}
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.end()
}

// horizontal is the sum of the lanes, adding the two halves first.
func (g *gen) horizontal(a vec) reg.VecVirtual {
	low := a
	if g.wide() {
		high := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), a, high)
		low = g.YMM()
		g.VADDPS(high, a.AsY(), low)
	}
	s, t := g.XMM(), g.XMM()
	g.VEXTRACTF128(operand.U8(1), low.AsY(), t)
	g.VADDPS(t, low.AsX(), s)
	g.VMOVHLPS(s, s, t)
	g.VADDPS(t, s, s)
	g.VMOVSHDUP(s, t)
	g.VADDSS(t, s, s)
	return s
}

// colSum emits out[j] += Σ_i a[i,j] for n columns in stripes of vecs vectors
// (all whole), or, for one vector, for the n ≤ lanes columns of one stripe.
func (g *gen) colSum(vecs int) {
	g.begin(fmt.Sprintf("ColSum%d", vecs), "func(m, n int, a *float32, lda int, out *float32)")
	a, lda, out, n := g.arg("a"), g.arg("lda"), g.arg("out"), g.arg("n")
	rest := g.mask()
	if vecs == 1 {
		g.tail(n, rest)
	}
	g.Label("stripe")
	m, row := g.arg("m"), g.GP64()
	g.MOVQ(a, row)
	sums := make([]vec, vecs)
	for v := range sums {
		sums[v] = g.vec()
		if vecs == 1 {
			g.loadTail(mem{Base: out}, rest, sums[v])
		} else {
			g.VMOVUPS(mem{Base: out, Disp: v * g.bytes()}, sums[v])
		}
	}
	g.Label("row")
	for v := range sums {
		if vecs == 1 {
			x := g.vec()
			g.loadTail(mem{Base: row}, rest, x)
			g.VADDPS(x, sums[v], sums[v])
		} else {
			g.VADDPS(mem{Base: row, Disp: v * g.bytes()}, sums[v], sums[v])
		}
	}
	g.ADDQ(lda, row)
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	for v := range sums {
		if vecs == 1 {
			g.storeTail(sums[v], rest, mem{Base: out})
		} else {
			g.VMOVUPS(sums[v], mem{Base: out, Disp: v * g.bytes()})
		}
	}
	if vecs > 1 {
		g.ADDQ(operand.U32(vecs*g.bytes()), a)
		g.ADDQ(operand.U32(vecs*g.bytes()), out)
		g.SUBQ(operand.U32(vecs*g.lanes), n)
		g.JG(operand.LabelRef("stripe"))
	}
	g.end()
}

// squares emits the float64 sum of the squares of f.
func (g *gen) squares(name, signature string, in []string, f func(in []vec) vec) {
	g.begin(name, signature)
	g.sum(in, func(in []vec, sums [2]vec) {
		low, high := g.halves(f(in))
		g.VFMADD231PD(low, low, sums[0])
		g.VFMADD231PD(high, high, sums[1])
	})
}

// sum emits a float64 sum over arrays and the end of its function: add adds the lower and the upper half
// of a vector to sums of their own, of which even and odd vectors have two each.
func (g *gen) sum(in []string, add func(in []vec, sums [2]vec)) {
	var sums [4]vec
	for i := range sums {
		sums[i] = g.zero()
	}
	turn := 0
	g.loop(2, in, nil, func(in []vec) []vec {
		add(in, [2]vec{sums[turn], sums[turn+1]})
		turn = 2 - turn
		return nil
	})
	g.VADDPD(sums[2], sums[0], sums[0])
	g.VADDPD(sums[3], sums[1], sums[1])
	g.returnSum(sums[0], sums[1])
}

// halves are the lower and the upper half of a vector, as float64.
func (g *gen) halves(x vec) (low, high vec) {
	half := reg.Register(g.XMM())
	low, high = g.vec(), g.vec()
	if g.wide() {
		half = g.YMM()
		g.VCVTPS2PD(x.AsY(), low)
		g.VEXTRACTF64X4(operand.U8(1), x, half)
	} else {
		g.VCVTPS2PD(x.AsX(), low)
		g.VEXTRACTF128(operand.U8(1), x, half)
	}
	g.VCVTPS2PD(half, high)
	return low, high
}

// returnSum ends a function that returns the sum of all lanes of two vectors of float64.
func (g *gen) returnSum(a, b vec) {
	g.VADDPD(b, a, a)
	low := a
	if g.wide() {
		half := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), a, half)
		g.VADDPD(half, low.AsY(), low.AsY())
	}
	s, t := g.XMM(), g.XMM()
	g.VEXTRACTF128(operand.U8(1), low.AsY(), t)
	g.VADDPD(t, low.AsX(), s)
	g.VUNPCKHPD(s, s, t)
	g.VADDSD(t, s, s)
	g.Store(s, g.ReturnIndex(0))
	g.end()
}

// peak emits n·12 multiply-adds on registers. This is the machine's arithmetic limit, against which
// the benchmarks of the products are measured.
func (g *gen) peak() {
	g.begin("Peak", "func(n int)")
	n, x := g.arg("n"), g.zero()
	var sums [12]vec
	for i := range sums {
		sums[i] = g.zero()
	}
	g.Label("again")
	for i := range sums {
		g.fma(sums[i], x, x)
	}
	g.DECQ(n)
	g.JNZ(operand.LabelRef("again"))
	g.end()
}
