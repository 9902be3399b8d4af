package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Products of patches: the left operand is an image. A product with a single stride could read only
// one line of a window at a time. The products here run through several lines, so that sums stay in
// registers, and read a packed right operand, whose rows are two vectors long whatever the tile
// uses of them.

// lineTiles returns their shapes: as many rows as fit, of two vectors or a masked one.
func (g *gen) lineTiles() (ts []tile) {
	pair, single := 6, 12
	if g.wide() {
		pair, single = 14, 14
	}
	for rows := 1; rows <= pair; rows++ {
		ts = append(ts, tile{rows, 2, false}, tile{rows, 2, true})
	}
	for rows := 1; rows <= single; rows++ {
		ts = append(ts, tile{rows, 1, true})
	}
	return ts
}

// linesGen generates one product of patches.
type linesGen struct {
	productGen
	lines reg.GPPhysical // lines still to come
}

// patches emits the products of patches; see linesGen.
func (g *gen) patches() {
	for _, t := range g.lineTiles() {
		name := fmt.Sprintf("Lines%dx%d", t.rows, t.vecs)
		if t.masked {
			name += "Tail"
		}
		g.begin(name, "func(blocks, lines, k int, a *float32, ars, aks, jump int, b *float32, c *float32, ldc int, tail, flags int, bias, mask *float32)")
		p := &linesGen{productGen: productGen{gen: g, tile: t}}
		p.emit()
		g.end()
	}
}

// emit writes the product, block by block of rows: C[rows × vecs] = A·B with the epilogue. A row of
// A is lines times k elements, aks bytes apart; the end of one line and the start of the next are
// jump bytes apart, and rows are ars bytes apart. The sums start with zeros or with C.
func (p *linesGen) emit() {
	p.a = []reg.GPPhysical{reg.RAX, reg.RBX, reg.RDX, reg.RSI, reg.R14}[:(p.rows+2)/3]
	p.ars, p.aks, p.b, p.lines = reg.R8, reg.R9, reg.R10, reg.R11
	p.c, p.ldc, p.count, p.mix, p.at = reg.R12, reg.R13, reg.RCX, reg.RDI, reg.R15
	p.Load(p.Param("ars"), p.ars)
	p.Load(p.Param("aks"), p.aks)
	p.Load(p.Param("c"), p.c)
	p.Load(p.Param("ldc"), p.ldc)
	if p.masked {
		p.columns = reg.K1
		if !p.wide() {
			p.columns = p.reg(15)
		}
		p.Load(p.Param("tail"), p.mix)
		p.tail(p.mix, p.columns)
	}
	p.Label("block")
	p.start()
	p.accumulate()
	p.epilogue()
	p.next()
	p.DECQ(p.address("blocks"))
	p.JNZ(operand.LabelRef("block"))
}

// start sets the pointers and the sums.
func (p *linesGen) start() {
	p.MOVQ(p.address("a"), p.a[0])
	p.MOVQ(p.address("b"), p.b)
	if len(p.a) > 1 {
		p.LEAQ(mem{Base: p.ars, Index: p.ars, Scale: 2}, p.mix)
		for i := 1; i < len(p.a); i++ {
			p.LEAQ(mem{Base: p.a[i-1], Index: p.mix, Scale: 1}, p.a[i])
		}
	}
	p.TESTQ(operand.U32(flagLoad), p.address("flags"))
	p.JZ(operand.LabelRef("zero"))
	p.rowsOf(p.c, p.ldc, func(i int) {
		for v := range p.vecs {
			p.fetch(p.at, 0, v, p.sum(i, v))
		}
	})
	p.JMP(operand.LabelRef("ready"))
	p.Label("zero")
	for i := range p.rows * p.vecs {
		p.clear(p.reg(i))
	}
	p.Label("ready")
}

// accumulate is the loops over lines and over their elements. The inner loop is unrolled by four
// and emitted twice: once for contiguous elements, as in a line of a window, and once for other
// strides.
func (p *linesGen) accumulate() {
	const steps = 4
	p.Load(p.Param("lines"), p.lines)
	p.Label("line")
	p.Load(p.Param("k"), p.count)
	p.SUBQ(operand.U32(steps), p.count)
	p.JLT(operand.LabelRef("few"))
	p.CMPQ(p.aks, operand.U32(4))
	p.JNZ(operand.LabelRef("apart"))
	p.Label("turn")
	for i := range steps {
		p.step(i, i)
	}
	p.ADDQ(operand.U32(steps*p.row()), p.b)
	for _, a := range p.a {
		p.ADDQ(operand.U32(4*steps), a)
	}
	p.SUBQ(operand.U32(steps), p.count)
	p.JGE(operand.LabelRef("turn"))
	p.JMP(operand.LabelRef("few"))
	p.Label("apart")
	for i := range steps {
		p.step(0, i)
		p.along()
	}
	p.ADDQ(operand.U32(steps*p.row()), p.b)
	p.SUBQ(operand.U32(steps), p.count)
	p.JGE(operand.LabelRef("apart"))
	p.Label("few")
	p.ADDQ(operand.U32(steps), p.count)
	p.JZ(operand.LabelRef("ended"))
	p.Label("one")
	p.step(0, 0)
	p.along()
	p.ADDQ(operand.U32(p.row()), p.b)
	p.DECQ(p.count)
	p.JNZ(operand.LabelRef("one"))
	p.Label("ended")
	p.Load(p.Param("jump"), p.mix)
	for _, a := range p.a {
		p.ADDQ(p.mix, a)
	}
	p.DECQ(p.lines)
	p.JNZ(operand.LabelRef("line"))
}

// row is the size of a row of the packed operand, in bytes.
func (p *linesGen) row() int { return 2 * p.bytes() }

// along moves to the next element of A.
func (p *linesGen) along() {
	for _, a := range p.a {
		p.ADDQ(p.aks, a)
	}
}

// step adds the outer product of a column of A and a row of B, the ones that are ahead of the
// pointers by the given number.
func (p *linesGen) step(ahead, row int) {
	for v := range p.vecs {
		p.VMOVUPS(mem{Base: p.b, Disp: row*p.row() + v*p.bytes()}, p.spare(v))
	}
	for i := range p.rows {
		m := mem{Base: p.a[i/3], Disp: 4 * ahead}
		if i%3 > 0 {
			m.Index, m.Scale = p.ars, uint8(i%3)
		}
		p.VBROADCASTSS(m, p.spare(p.vecs))
		for v := range p.vecs {
			p.VFMADD231PS(p.spare(v), p.spare(p.vecs), p.sum(i, v))
		}
	}
}
