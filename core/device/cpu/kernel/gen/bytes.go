package main

import "github.com/mmcloughlin/avo/operand"

// bytesToNumbers emits the function that makes numbers byte/255 + offset of whole vectors of bytes.
// A division and an addition round as Go's do, so that every family has the same bits.
func (g *gen) bytesToNumbers() {
	g.begin("FromBytes", "func(vectors int, dst *float32, src *byte, offset float32)")
	offset := g.spread(g.address("offset"))
	vectors, dst, src := g.arg("vectors"), g.arg("dst"), g.arg("src")
	g.Label("vector")
	b := g.vec()
	g.VPMOVZXBD(mem{Base: src}, b)
	g.VMOVUPS(g.add(g.div(g.fromInt(b), g.c(255)), offset), mem{Base: dst})
	g.ADDQ(operand.U32(g.lanes), src)
	g.ADDQ(operand.U32(g.bytes()), dst)
	g.DECQ(vectors)
	g.JNZ(operand.LabelRef("vector"))
	g.end()
}
