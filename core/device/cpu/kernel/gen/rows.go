package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// softmaxRows emits what the rows of a softmax need.
func (g *gen) softmaxRows() {
	g.largest()
	g.expSum()
	g.begin("Sum", "func(n int, a *float32) float64")
	g.sum([]string{"a"}, func(in []vec, sums [2]vec) {
		low, high := g.halves(in[0])
		g.VADDPD(low, sums[0], sums[0])
		g.VADDPD(high, sums[1], sums[1])
	})
	g.begin("Dot", "func(n int, a, b *float32) float64")
	g.sum([]string{"a", "b"}, func(in []vec, sums [2]vec) {
		low, high := g.halves(in[0])
		low2, high2 := g.halves(in[1])
		g.VFMADD231PD(low2, low, sums[0])
		g.VFMADD231PD(high2, high, sums[1])
	})
	g.mirrored()
	g.groupSoftmax()
}

// largest emits the maximum of n elements, of one vector at least; the last vector overlaps the one
// before it.
func (g *gen) largest() {
	g.begin("Largest", "func(n int, a *float32) float32")
	n, a := g.arg("n"), g.arg("a")
	most := g.load(mem{Base: a})
	g.SUBQ(operand.U32(g.lanes), n)
	g.Label("vectors")
	g.CMPQ(n, operand.U32(g.lanes))
	g.JLT(operand.LabelRef("last"))
	g.ADDQ(operand.U32(g.bytes()), a)
	g.VMAXPS(mem{Base: a}, most, most)
	g.SUBQ(operand.U32(g.lanes), n)
	g.JMP(operand.LabelRef("vectors"))
	g.Label("last")
	g.VMAXPS(mem{Base: a, Index: n, Scale: 4}, most, most)
	low := most
	if g.wide() {
		high := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), most, high)
		low = g.YMM()
		g.VMAXPS(high, most.AsY(), low)
	}
	s, t := g.XMM(), g.XMM()
	g.VEXTRACTF128(operand.U8(1), low.AsY(), t)
	g.VMAXPS(t, low.AsX(), s)
	g.VMOVHLPS(s, s, t)
	g.VMAXPS(t, s, s)
	g.VMOVSHDUP(s, t)
	g.VMAXPS(t, s, s)
	g.Store(s, g.ReturnIndex(0))
	g.end()
}

// expSum emits dst = e^(x−shift) and the float64 sum of the results.
func (g *gen) expSum() {
	g.begin("ExpSum", "func(n int, dst, x *float32, shift float32) float64")
	shift, sums := g.spread(g.address("shift")), [2]vec{g.zero(), g.zero()}
	g.loopMasked(1, []string{"x"}, []string{"dst"}, func(in []vec, rest mask) []vec {
		e := g.exp(g.sub(in[0], shift))
		counts := e
		if rest != nil {
			counts = g.keep(rest, e)
		}
		low, high := g.halves(counts)
		g.VADDPD(low, sums[0], sums[0])
		g.VADDPD(high, sums[1], sums[1])
		return []vec{e}
	})
	g.returnSum(sums[0], sums[1])
}

// mirrored emits the sum of pairs a·b of some vectors from high on and of as many before and at low,
// whose elements run the other way. The two of a pair are added to each other first.
func (g *gen) mirrored() {
	reverse := g.StaticGlobal("reverse")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range g.lanes {
		g.AddDatum(4*i, operand.U32(g.lanes-1-i))
	}
	g.begin("Mirrored", "func(vectors int, lowA, highA, lowB, highB *float32) float64")
	vectors, lowA, highA, lowB, highB := g.arg("vectors"), g.arg("lowA"), g.arg("highA"), g.arg("lowB"), g.arg("highB")
	order, sums := g.load(reverse), [2]vec{g.zero(), g.zero()}
	backwards := func(at mem) vec {
		d := g.vec()
		g.VPERMPS(at, order, d)
		return d
	}
	g.Label("vector")
	a, a2 := g.halves(g.load(mem{Base: highA}))
	b, b2 := g.halves(g.load(mem{Base: highB}))
	g.VMULPD(b, a, a)
	g.VMULPD(b2, a2, a2)
	c, c2 := g.halves(backwards(mem{Base: lowA}))
	d, d2 := g.halves(backwards(mem{Base: lowB}))
	g.VFMADD231PD(d, c, a)
	g.VFMADD231PD(d2, c2, a2)
	g.VADDPD(a, sums[0], sums[0])
	g.VADDPD(a2, sums[1], sums[1])
	g.ADDQ(operand.U32(g.bytes()), highA)
	g.ADDQ(operand.U32(g.bytes()), highB)
	g.SUBQ(operand.U32(g.bytes()), lowA)
	g.SUBQ(operand.U32(g.bytes()), lowB)
	g.DECQ(vectors)
	g.JNZ(operand.LabelRef("vector"))
	g.returnSum(sums[0], sums[1])
}

// groupSoftmax emits rest·softmax + even of groups of four elements.
func (g *gen) groupSoftmax() {
	g.begin("GroupSoftmax4", "func(n int, dst, x *float32, rest, even float32)")
	rest, even := g.spread(g.address("rest")), g.spread(g.address("even"))
	g.loop(1, []string{"x"}, []string{"dst"}, func(in []vec) []vec {
		x := in[0]
		top := g.vec()
		g.VMAXPS(g.swapped(x, 0xb1), x, top)
		most := g.vec()
		g.VMAXPS(g.swapped(top, 0x4e), top, most)
		e := g.exp(g.sub(x, most))
		pairs := g.add(e, g.swapped(e, 0xb1))
		sum := g.add(pairs, g.swapped(pairs, 0x4e))
		return []vec{g.fma(g.copy(even), e, g.div(rest, sum))}
	})
	g.end()
}

// swapped moves elements within each four: 0xb1 swaps neighbours, 0x4e swaps pairs.
func (g *gen) swapped(a vec, order uint8) vec {
	d := g.vec()
	g.VPERMILPS(operand.U8(order), a, d)
	return d
}
