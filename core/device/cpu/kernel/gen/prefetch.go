package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streams reports whether the kernel has a loop for packed operands.
func (p *productGen) streams() bool { return p.vecs == 2 || p.vecs == 3 }

// nearC prefetches one row of the next block of C, until all are prefetched. C is often larger than
// the cache, and each of its rows is in another page. More than one row at once would delay what
// the loop reads.
func (p *productGen) nearC() {
	p.row(p.coming, p.c, "all")
	p.ADDQ(p.ldc, p.c)
	p.Label("all")
}

// besides sets up what else the loop for packed operands prefetches: the mask of this block, which
// its epilogue reads, and what the sums of the next block start with. The strides are known in that
// loop, so their registers are free for this.
func (p *productGen) besides() {
	p.MOVQ(operand.U32(0), p.masks)
	p.MOVQ(operand.U32(0), p.from)
	p.MOVQ(p.address("mask"), p.aks)
	p.TESTQ(p.aks, p.aks)
	p.JZ(operand.LabelRef("unmasked"))
	p.MOVQ(operand.U32(p.rows), p.masks)
	p.Label("unmasked")
	p.TESTQ(operand.U32(flagApart), p.address("flags"))
	p.JZ(operand.LabelRef("together"))
	p.MOVQ(p.address("from"), p.ldb)
	p.MOVQ(operand.U32(p.rows), p.from)
	p.Label("together")
}

// nearMask prefetches one row of the mask, until all are prefetched.
func (p *productGen) nearMask() {
	p.row(p.masks, p.aks, "masked")
	p.ADDQ(p.ldc, p.aks)
	p.Label("masked")
}

// nearFrom prefetches one row of what the next block's sums start with, until all are prefetched.
func (p *productGen) nearFrom() {
	p.row(p.from, p.ldb, "begun")
	p.ADDQ(p.address("ldf"), p.ldb)
	p.Label("begun")
}

// row prefetches one row of the tile's width, or jumps to done if none is left.
func (p *productGen) row(left mem, at reg.GPPhysical, done string) {
	p.CMPQ(left, operand.U32(0))
	p.JZ(operand.LabelRef(done))
	for d := 0; d < p.vecs*p.bytes(); d += 64 {
		p.PREFETCHT0(mem{Base: at, Disp: d})
	}
	p.DECQ(left)
}

// burst prefetches all of what the next block's sums start with, if that is not C.
func (p *productGen) burst() {
	p.TESTQ(operand.U32(flagApart), p.address("flags"))
	p.JZ(operand.LabelRef("spread"))
	p.Load(p.Param("ldf"), p.mix)
	p.rowsOf(p.address("from"), p.mix, func(int) { p.near() })
	p.Label("spread")
}

// nearNext prefetches one line of the memory that is read next.
func (p *productGen) nearNext() {
	p.PREFETCHT1(mem{Base: p.mix})
	p.ADDQ(p.address("step"), p.mix)
	p.DECQ(p.at)
	p.JNZ(operand.LabelRef("run"))
	p.ADDQ(p.address("skip"), p.mix)
	p.Load(p.Param("run"), p.at)
	p.Label("run")
}

// ahead prefetches C of the next block of rows all at once, and what its sums start with.
func (p *productGen) ahead() {
	p.burst()
	p.IMUL3Q(operand.U32(p.rows), p.ldc, p.mix)
	p.LEAQ(mem{Base: p.c, Index: p.mix, Scale: 1}, p.mix)
	p.rowsOf(p.mix, p.ldc, func(int) { p.near() })
}

// near prefetches the row of a tile that p.at points to.
func (p *productGen) near() {
	for at := 0; at < min(p.vecs, 3)*p.bytes(); at += 64 {
		p.PREFETCHT0(mem{Base: p.at, Disp: at})
	}
}
