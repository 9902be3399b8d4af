package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// pack copies k rows of some vectors of B next to each other; with a tail, the lanes after it are
// zeros. Strides are in bytes.
func (g *gen) pack(vecs int, masked bool) {
	name := fmt.Sprintf("Pack%d", vecs)
	if masked {
		name += "Tail"
	}
	g.begin(name, "func(k int, src *float32, lds int, dst *float32, tail int)")
	k, src, lds, dst := g.arg("k"), g.arg("src"), g.arg("lds"), g.arg("dst")
	rest := mask(nil)
	if masked {
		rest = g.mask()
		g.tail(g.arg("tail"), rest)
	}
	g.Label("row")
	row := make([]vec, vecs)
	for v := range row {
		row[v] = g.vec()
		if from := (mem{Base: src, Disp: v * g.bytes()}); masked && v == vecs-1 {
			g.loadTail(from, rest, row[v])
		} else {
			g.VMOVUPS(from, row[v])
		}
	}
	for v := range row {
		g.VMOVUPS(row[v], mem{Base: dst, Disp: v * g.bytes()})
	}
	g.ADDQ(lds, src)
	g.ADDQ(operand.U32(vecs*g.bytes()), dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.end()
}
