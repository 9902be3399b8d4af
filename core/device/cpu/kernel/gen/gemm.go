package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tile is the block of C that one pass of a microkernel holds in registers: rows by vecs vectors,
// of which the last may be partly masked off.
type tile struct {
	rows, vecs int
	masked     bool
}

func (t tile) name() string {
	kind := ""
	if t.masked {
		kind = "Tail"
	}
	return fmt.Sprintf("Tile%dx%d%s", t.rows, t.vecs, kind)
}

// tiles returns the shapes that fit into the registers. Four rows of three vectors take 12 sums,
// three vectors of B and the broadcast element of A, which is all of AVX2's registers; with two
// vectors there are six rows (14 in AVX-512). A single vector of columns takes up to 12 (14) rows,
// and up to three rows take more columns, so that there are always enough independent sums to hide
// the latency of the multiply-add.
func (g *gen) tiles() []tile {
	pair, single := 6, 12
	if g.wide() {
		pair, single = 14, 14
	}
	var ts []tile
	for rows := 1; rows <= pair; rows++ {
		ts = append(ts, tile{rows, 2, false}, tile{rows, 2, true})
	}
	for rows := 1; rows <= single; rows++ {
		ts = append(ts, tile{rows, 1, true})
	}
	if !g.wide() {
		for rows := 1; rows <= 4; rows++ {
			ts = append(ts, tile{rows, 3, false})
		}
	}
	return append(ts, tile{1, 8, false}, tile{2, 4, false}, tile{3, 4, false})
}

func (g *gen) products() {
	for _, t := range g.tiles() {
		g.product(t)
	}
	g.pack(2, false)
	g.pack(2, true)
	if !g.wide() {
		g.pack(3, false)
	}
}

const (
	flagLoad = 1 // the sums start with the matrix at from
	flagReLU = 2
	// flagApart says that the matrix at from is prefetched block by block, as C is, because it is
	// not C.
	flagApart = 4
)

// product emits C[blocks·rows × vecs] = A·B with the epilogue, block by block of rows. Strides are
// in bytes; tail is the number of columns in the last vector if the tile is masked; bias and mask
// may be nil. The sums start with zeros or with the matrix at from, which may be C or have other
// strides. If operands are packed, the memory that is used next is prefetched, one line per
// iteration of the loop over k: the first line at next, each further one step bytes after the one
// before; after left lines, and then after every run lines, skip bytes are added.
func (g *gen) product(t tile) {
	g.begin(t.name(), "func(blocks, k int, a *float32, ars, aks int, b *float32, ldb int, from *float32, ldf int, c *float32, ldc int, tail, flags int, bias, mask *float32, next uintptr, step, run, skip, left int)")
	p := &productGen{gen: g, tile: t}
	p.emit()
	g.end()
}

// productGen holds the registers of one microkernel. They are assigned by hand: the sums first,
// then B's vectors, and the rest for broadcasts. R14 is free: the caller of assembly keeps g there
// and restores it.
type productGen struct {
	*gen
	tile
	columns            mask             // of the last vector, if it is a tail
	a                  []reg.GPPhysical // every third row of A
	ars, aks, b, ldb   reg.GPPhysical
	c, ldc, count, mix reg.GPPhysical
	at                 reg.GPPhysical // a row of C, or of the mask
	coming             mem            // number of rows of the next block of C that are not yet prefetched
	masks, from        mem            // the same for this block's mask, and for what the next block's sums start with
}

func (p *productGen) sum(i, v int) vecReg { return p.reg(i*p.vecs + v) }

// spare is the i-th register after the sums.
func (p *productGen) spare(i int) vecReg { return p.reg(p.rows*p.vecs + i) }

type vecReg = reg.VecPhysical

func (p *productGen) reg(i int) vecReg {
	if p.wide() {
		return zmm[i]
	}
	return ymm[i]
}

func (p *productGen) emit() {
	p.a = []reg.GPPhysical{reg.RAX, reg.RBX, reg.RDX, reg.RSI, reg.R14}[:(p.rows+2)/3]
	p.ars, p.aks, p.b, p.ldb = reg.R8, reg.R9, reg.R10, reg.R11
	p.c, p.ldc, p.count, p.mix, p.at = reg.R12, reg.R13, reg.RCX, reg.RDI, reg.R15
	if p.streams() {
		p.coming, p.masks, p.from = p.AllocLocal(8), p.AllocLocal(8), p.AllocLocal(8)
	}
	p.Load(p.Param("ars"), p.ars)
	p.Load(p.Param("aks"), p.aks)
	p.Load(p.Param("ldb"), p.ldb)
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

// column is vector v of the row at p.
func (p *productGen) column(row reg.Register, v int) mem {
	return mem{Base: row, Disp: v * p.bytes()}
}

// fetch loads vector v of a row: the row at a register, or the row that is ahead rows after it in
// contiguous memory.
func (p *productGen) fetch(row reg.Register, ahead, v int, d vecReg) {
	from := p.column(row, ahead*p.vecs+v)
	if p.masked && v == p.vecs-1 {
		p.loadTail(from, p.columns, d)
		return
	}
	p.VMOVUPS(from, d)
}

// rowsOf visits the rows of a matrix with the row stride ld; p.at ends at the last row.
func (p *productGen) rowsOf(start op, ld reg.Register, visit func(i int)) {
	p.MOVQ(start, p.at)
	for i := range p.rows {
		visit(i)
		if i < p.rows-1 {
			p.ADDQ(ld, p.at)
		}
	}
}

// start sets the pointers and the sums: to zeros, or to the matrix at from.
func (p *productGen) start() {
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
	p.Load(p.Param("ldf"), p.mix)
	p.rowsOf(p.address("from"), p.mix, func(i int) {
		for v := range p.vecs {
			p.fetch(p.at, 0, v, p.sum(i, v))
		}
	})
	p.ADDQ(p.mix, p.at)
	p.MOVQ(p.at, p.address("from"))
	p.JMP(operand.LabelRef("ready"))
	p.Label("zero")
	for i := range p.rows * p.vecs {
		p.clear(p.reg(i))
	}
	p.Label("ready")
}

// accumulate is the loop over k, unrolled by four. If the elements of A's rows are contiguous, and
// B's rows too, B is a packed panel, and the steps of one iteration need no pointers of their own:
// a core that two threads share issues hardly more instructions than multiply-adds and loads.
func (p *productGen) accumulate() {
	p.Load(p.Param("k"), p.count)
	if p.streams() {
		p.CMPQ(p.aks, operand.U32(4))
		p.JNZ(operand.LabelRef("apart"))
		p.CMPQ(p.ldb, operand.U32(p.vecs*p.bytes()))
		p.JNZ(operand.LabelRef("apart"))
		p.packed()
		p.JMP(operand.LabelRef("near"))
		p.Label("apart")
	}
	p.ahead()
	p.Label("near")
	p.SUBQ(operand.U32(4), p.count)
	p.JLT(operand.LabelRef("few"))
	p.Label("four")
	for range 4 {
		p.step(0)
		p.advance()
	}
	p.SUBQ(operand.U32(4), p.count)
	p.JGE(operand.LabelRef("four"))
	p.Label("few")
	p.ADDQ(operand.U32(4), p.count)
	p.JZ(operand.LabelRef("finish"))
	p.Label("one")
	p.step(0)
	p.advance()
	p.DECQ(p.count)
	p.JNZ(operand.LabelRef("one"))
	p.Label("finish")
}

// packed is the accumulate loop for packed operands, for all whole iterations.
func (p *productGen) packed() {
	steps := 4
	if p.vecs == 3 {
		steps = 8
	}
	p.SUBQ(operand.U32(steps), p.count)
	p.JLT(operand.LabelRef("rest"))
	p.besides()
	p.MOVQ(operand.U32(p.rows), p.coming)
	p.IMUL3Q(operand.U32(p.rows), p.ldc, p.mix)
	p.ADDQ(p.mix, p.c)
	p.Load(p.Param("next"), p.mix)
	p.Load(p.Param("left"), p.at)
	p.Label("turn")
	for i := range steps {
		p.step(i)
		switch i {
		case 0:
			p.nearC()
		case steps / 4:
			p.nearMask()
		case steps / 2:
			p.nearNext()
		case 3 * steps / 4:
			p.nearFrom()
		}
	}
	p.ADDQ(operand.U32(steps*p.vecs*p.bytes()), p.b)
	for _, a := range p.a {
		p.ADDQ(operand.U32(4*steps), a)
	}
	p.SUBQ(operand.U32(steps), p.count)
	p.JGE(operand.LabelRef("turn"))
	p.MOVQ(p.mix, p.address("next"))
	p.MOVQ(p.at, p.address("left"))
	p.Load(p.Param("c"), p.c)
	p.Load(p.Param("aks"), p.aks)
	p.Load(p.Param("ldb"), p.ldb)
	p.Label("rest")
	p.ADDQ(operand.U32(steps), p.count)
}

// step adds the outer product of a column of A and a row of B: those at the pointers, or those
// ahead of them in packed operands.
func (p *productGen) step(ahead int) {
	element := func(i int) mem {
		m := mem{Base: p.a[i/3], Disp: 4 * ahead}
		if i%3 > 0 {
			m.Index, m.Scale = p.ars, uint8(i%3)
		}
		return m
	}
	if p.vecs > 3 {
		// With few rows, their elements stay in registers and B passes through one register or
		// none.
		for i := range p.rows {
			p.VBROADCASTSS(element(i), p.spare(i))
		}
		for v := range p.vecs {
			b := op(p.column(p.b, v))
			if p.rows > 1 {
				p.VMOVUPS(b, p.spare(p.rows))
				b = p.spare(p.rows)
			}
			for i := range p.rows {
				p.VFMADD231PS(b, p.spare(i), p.sum(i, v))
			}
		}
	} else {
		for v := range p.vecs {
			p.fetch(p.b, ahead, v, p.spare(v))
		}
		for i := range p.rows {
			p.VBROADCASTSS(element(i), p.spare(p.vecs))
			for v := range p.vecs {
				p.VFMADD231PS(p.spare(v), p.spare(p.vecs), p.sum(i, v))
			}
		}
	}
}

// advance moves to the next column of A and row of B.
func (p *productGen) advance() {
	p.ADDQ(p.ldb, p.b)
	for _, a := range p.a {
		p.ADDQ(p.aks, a)
	}
}

// epilogue adds the bias, applies the ReLU and the mask, and stores.
func (p *productGen) epilogue() {
	x, zero := p.spare(0), p.spare(1)
	p.Load(p.Param("bias"), p.mix)
	p.TESTQ(p.mix, p.mix)
	p.JZ(operand.LabelRef("unbiased"))
	for v := range p.vecs {
		p.fetch(p.mix, 0, v, x)
		for i := range p.rows {
			p.VADDPS(x, p.sum(i, v), p.sum(i, v))
		}
	}
	p.Label("unbiased")
	p.clear(zero)
	p.TESTQ(operand.U32(flagReLU), p.address("flags"))
	p.JZ(operand.LabelRef("linear"))
	for i := range p.rows * p.vecs {
		p.VMAXPS(p.reg(i), zero, p.reg(i)) // this order keeps NaN
	}
	p.Label("linear")
	p.Load(p.Param("mask"), p.mix)
	p.TESTQ(p.mix, p.mix)
	p.JZ(operand.LabelRef("store"))
	p.rowsOf(p.mix, p.ldc, func(i int) {
		for v := range p.vecs {
			p.fetch(p.at, 0, v, x)
			positive := mask(x)
			if p.wide() {
				positive = reg.K2
			}
			p.VCMPPS(lessThan, x, zero, positive) // 0 < mask
			p.keepInto(positive, p.sum(i, v), p.sum(i, v))
		}
	})
	p.Label("store")
	p.rowsOf(p.c, p.ldc, func(i int) {
		for v := range p.vecs {
			if p.masked && v == p.vecs-1 {
				p.storeTail(p.sum(i, v), p.columns, p.column(p.at, v))
			} else {
				p.VMOVUPS(p.sum(i, v), p.column(p.at, v))
			}
		}
	})
}

// next moves A, C and the mask to the next block of rows; p.at is still at the
// last row of C.
func (p *productGen) next() {
	p.LEAQ(mem{Base: p.at, Index: p.ldc, Scale: 1}, p.at)
	p.MOVQ(p.at, p.count)
	p.SUBQ(p.c, p.count)
	p.MOVQ(p.at, p.c)
	p.MOVQ(p.at, p.address("c"))
	p.TESTQ(p.mix, p.mix)
	p.JZ(operand.LabelRef("maskless"))
	p.ADDQ(p.count, p.address("mask"))
	p.Label("maskless")
	p.IMUL3Q(operand.U32(p.rows), p.ars, p.count)
	p.ADDQ(p.count, p.address("a"))
}
