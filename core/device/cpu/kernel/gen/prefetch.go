package main

import "github.com/mmcloughlin/avo/operand"

// streams says whether the kernel has a loop for packed operands.
func (p *productGen) streams() bool { return p.vecs == 2 || p.vecs == 3 }

// nearC prefetches a row of the next block of C, until all are near: C is often larger
// than the cache, and each of its rows is another page. More than a row at once would
// keep what the loop reads waiting.
func (p *productGen) nearC() {
	p.CMPQ(p.coming, operand.U32(0))
	p.JZ(operand.LabelRef("all"))
	for at := 0; at < p.vecs*p.bytes(); at += 64 {
		p.PREFETCHT0(mem{Base: p.c, Disp: at})
	}
	p.ADDQ(p.ldc, p.c)
	p.DECQ(p.coming)
	p.Label("all")
}

// nearNext prefetches a line of what is read after this.
func (p *productGen) nearNext() {
	p.PREFETCHT1(mem{Base: p.mix})
	p.ADDQ(p.address("step"), p.mix)
	p.DECQ(p.at)
	p.JNZ(operand.LabelRef("run"))
	p.ADDQ(p.address("skip"), p.mix)
	p.Load(p.Param("run"), p.at)
	p.Label("run")
}

// ahead prefetches C of the next block of rows at once.
func (p *productGen) ahead() {
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
