package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileGen holds the registers of the products, assigned by hand. Sums are tiles 0 and 1, of 16 rows
// and twice 16 columns; B's planes are 4 and 5, A's 6 and 7.
//
// # Two tiles are left unused
//
// If the other hardware thread of a core is busy with anything, products that use all eight tiles
// take more than twice as long as with six, though they need fewer loads; apparently few registers
// are then left to rename tiles to. In that case, tile instructions that follow each other closely
// also take half as long again as with others between them. On an unshared core neither effect
// appears.
type tileGen struct {
	*gen
	a              reg.GPPhysical    // units of 16 rows
	b              [2]reg.GPPhysical // units of twice 16 columns
	narrow, wide   reg.GPPhysical    // strides: 64 and 128 bytes
	count          reg.GPPhysical
	from, mask     reg.GPPhysical // as distances from c
	sum, c0, ldc   reg.GPPhysical // of the rows that wait for the epilogue
	waiting, piece reg.GPPhysical // number of waiting rows, and of rows to finish now
	nextA, left    mem            // where the next block of A is, and blocks left in the strip
	saved          [5]mem         // registers that splitting ahead saves and uses
}

const (
	firstB      = 4
	topA, restA = 6, 7 // A's high plane, and its middle or low one
)

func newTileGen(g *gen) *tileGen {
	t := &tileGen{
		gen: g, a: reg.RAX, b: [2]reg.GPPhysical{reg.RCX, reg.RDX},
		narrow: reg.RSI, wide: reg.RDI, count: reg.R8, sum: reg.R9, c0: reg.R10, ldc: reg.R11,
		waiting: reg.R12, piece: reg.R13, from: reg.R14, mask: reg.R15,
	}
	return t
}

// tileConfig returns what LDTILECFG reads; all functions share it.
func (g *gen) tileConfig() mem {
	if g.config.Base != nil {
		return g.config
	}
	g.config = g.StaticGlobal("config")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	words := [16]uint32{0: 1} // the palette
	for i := range 4 {
		words[4+i] = 64<<16 | 64 // bytes of a row, two tiles a word
	}
	words[12], words[13] = 0x10101010, 0x10101010 // rows
	for i, w := range words {
		g.AddDatum(4*i, operand.U32(w))
	}
	return g.config
}

// configure makes all eight tiles 16 rows of 64 bytes.
func (t *tileGen) configure() {
	config := t.tileConfig()
	t.LEAQ(config, t.count)
	t.tile("LDTILECFG", mem{Base: t.count})
	t.MOVQ(operand.U32(64), t.narrow)
	t.MOVQ(operand.U32(128), t.wide)
}

// tile appends an instruction that the assembler does not know; encode writes its bytes at the end.
func (t *tileGen) tile(opcode string, operands ...op) {
	t.Instruction(&ir.Instruction{Opcode: opcode, Operands: operands, Inputs: operands})
}

// apart puts a cheap instruction between two instructions on tiles.
func (t *tileGen) apart() { t.tile("NOPS", operand.U8(8)) }

// tileOp returns a tile as an operand.
func tileOp(i int) op { return operand.U8(i) }

// loadA and loadB fill a tile with a plane of the unit that is the given number of units ahead. A
// is read once; B stays in the first-level cache.
func (t *tileGen) loadA(tile, plane, units int) {
	t.tile("TILELOADDT1", t.plane(t.a, plane, units), tileOp(tile))
	t.apart()
}

func (t *tileGen) loadB(column, plane, units int) {
	t.tile("TILELOADD", t.plane(t.b[column], plane, units), tileOp(firstB+column))
	t.apart()
}

func (t *tileGen) plane(unit reg.GPPhysical, plane, units int) mem {
	return mem{Base: unit, Index: t.narrow, Scale: 1, Disp: units*unitBytes + plane*planeBytes}
}

// multiply adds the product of A's plane in a tile and B's current one to the sum of a column.
func (t *tileGen) multiply(column, a int) {
	t.tile("TDPBF16PS", tileOp(firstB+column), tileOp(a), tileOp(column))
	t.apart()
}

// sumsAt returns where the sums of a column are in a block of 16 rows of 128 bytes.
func (t *tileGen) sumsAt(base reg.Register, column int) mem {
	return mem{Base: base, Index: t.wide, Scale: 1, Disp: 64 * column}
}

// The planes of a unit: x = high + middle + low.
const high, middle, low = 0, 1, 2

// first loads what step expects to be loaded.
func (t *tileGen) first() {
	t.loadA(topA, high, 0)
	t.loadB(0, low, 0)
	t.loadB(1, low, 0)
}

// slots is the number of places in a step where other work is done.
const slots = 4

// step adds ten of the twelve products of a unit of A and two of B, each loaded a
// product or more before it is used; slot is called with 1 to slots.
func (t *tileGen) step(slot func(nth int)) {
	t.multiply(0, topA)
	t.loadB(0, middle, 0)
	t.multiply(1, topA)
	t.loadB(1, middle, 0)
	slot(1)
	t.loadA(restA, middle, 0)
	t.multiply(0, topA)
	t.multiply(0, restA)
	t.loadB(0, high, 0)
	slot(2)
	t.multiply(1, topA)
	t.multiply(1, restA)
	t.loadB(1, high, 0)
	t.multiply(0, restA)
	slot(3)
	t.multiply(1, restA)
	t.loadA(restA, low, 0)
	t.multiply(0, topA)
	t.multiply(1, topA)
	slot(4)
}

// next adds the other two products and loads what the next step expects.
func (t *tileGen) next() {
	t.loadA(topA, high, 1)
	t.multiply(0, restA)
	t.loadB(0, low, 1)
	t.multiply(1, restA)
	t.loadB(1, low, 1)
	for _, p := range []reg.GPPhysical{t.a, t.b[0], t.b[1]} {
		t.ADDQ(operand.U32(unitBytes), p)
	}
}

// steps are all steps of a block, from the current one on.
func (t *tileGen) steps() {
	t.Label("steps")
	t.step(t.ahead)
	t.DECQ(t.count)
	t.JZ(operand.LabelRef("final"))
	t.next()
	t.JMP(operand.LabelRef("steps"))
	t.Label("final")
	t.multiply(0, restA)
	t.multiply(1, restA)
}

// start loads the sums of a block from memory, or sets them to zeros.
func (t *tileGen) start(load op) {
	t.TESTQ(operand.U32(flagLoad), load)
	t.JZ(operand.LabelRef("zero"))
	for i := range 2 {
		t.tile("TILELOADD", t.sumsAt(t.piece, i), tileOp(i))
	}
	t.JMP(operand.LabelRef("ready"))
	t.Label("zero")
	for i := range 2 {
		t.tile("TILEZERO", tileOp(i))
	}
	t.Label("ready")
}

// strips is the loop over the blocks of some strips: all strips use the same A, while B moves on.
func (t *tileGen) strips(block func()) {
	t.nextA, t.left = t.AllocLocal(8), t.AllocLocal(8)
	for i := range t.saved {
		t.saved[i] = t.AllocLocal(8)
	}
	t.Label("strip")
	t.Load(t.Param("a"), t.a)
	t.MOVQ(t.a, t.nextA)
	t.Load(t.Param("blocks"), t.count)
	t.MOVQ(t.count, t.left)
	t.Label("block")
	t.MOVQ(t.address("sums"), t.piece)
	t.start(t.address("flags"))
	t.ADDQ(operand.U32(blockRows*128), t.address("sums"))
	t.operands()
	block()
	t.DECQ(t.left)
	t.JNZ(operand.LabelRef("block"))
	t.Load(t.Param("panel"), t.count)
	t.SHLQ(operand.U8(1), t.count)
	t.ADDQ(t.count, t.address("b"))
	t.DECQ(t.address("strips"))
	t.JNZ(operand.LabelRef("strip"))
	t.tile("TILERELEASE")
}

// operands loads the pointers of a block, each of which has its own panel of A, and what its first
// step expects.
func (t *tileGen) operands() {
	panel, next := t.b[1], t.count
	t.Load(t.Param("panel"), panel)
	t.MOVQ(t.nextA, t.a)
	t.LEAQ(mem{Base: t.a, Index: panel, Scale: 1}, next)
	t.MOVQ(next, t.nextA)
	t.Load(t.Param("b"), t.b[0])
	t.ADDQ(t.b[0], t.b[1])
	t.Load(t.Param("depth"), t.count)
	t.first()
}

// tileRange adds the products of some strips over a range of k, without an epilogue: sums are
// blocks of 16×32 by rows.
func (g *gen) tileRange() {
	g.begin("Range", "func(strips, blocks, depth, panel int, a, b, sums *float32, flags int, ahead *int)")
	t := newTileGen(g)
	t.configure()
	t.splitConstants()
	t.strips(func() {
		t.steps()
		for i := range 2 {
			t.tile("TILESTORED", tileOp(i), t.sumsAt(t.piece, i))
		}
	})
	t.end()
}

// tileProduct computes the last range, with the epilogue. The sums of a block go to scratch, and
// from there to C while the next block is computed, whose tile products need few of the core's
// slots.
func (g *gen) tileProduct() {
	g.begin("Product", "func(strips, blocks, depth, panel int, a, b, sums, scratch, c *float32, ldc, rows, columns, flags int, bias, from, mask *float32, ahead *int)")
	t := newTileGen(g)
	rows := t.AllocLocal(8) // of the strip, from the current block on
	t.configure()
	t.splitConstants()
	t.epilogueRegisters()
	t.strips(func() {
		// The first step finishes the last block's rows between its products.
		t.Load(t.Param("scratch"), t.sum)
		t.step(t.some)
		t.DECQ(t.count)
		t.JZ(operand.LabelRef("final"))
		t.next()
		t.steps()
		t.Load(t.Param("scratch"), t.sum)
		for i := range 2 {
			t.tile("TILESTORED", tileOp(i), t.sumsAt(t.sum, i))
		}
		t.MOVQ(t.left, t.piece)
		t.CMPQ(t.piece, t.address("blocks"))
		t.JNZ(operand.LabelRef("below"))
		t.columns()
		t.Load(t.Param("rows"), t.piece)
		t.MOVQ(t.piece, rows)
		t.Label("below")
		t.MOVQ(operand.U32(blockRows), t.waiting)
		t.CMPQ(rows, operand.U32(blockRows))
		t.JGE(operand.LabelRef("whole"))
		t.MOVQ(rows, t.waiting)
		t.Label("whole")
		t.SUBQ(operand.U32(blockRows), rows)
	})
	t.Label("last")
	t.row(0)
	t.DECQ(t.waiting)
	t.JNZ(operand.LabelRef("last"))
	t.end()
}

// The epilogue's vectors: the bias of the columns, the least result, and zero.
var tileBias, tileFloor, tileZero = []reg.VecPhysical{reg.Z16, reg.Z17}, reg.Z18, reg.Z19

// tileColumns are the masks of the strip's columns.
var tileColumns = []reg.Register{reg.K1, reg.K2}

func (t *tileGen) epilogueRegisters() {
	t.XORQ(t.waiting, t.waiting)
	t.clear(tileZero)
	t.clear(tileFloor)
	t.TESTQ(operand.U32(flagReLU), t.address("flags"))
	t.JNZ(operand.LabelRef("floor"))
	t.VMOVUPS(t.c(math.Inf(-1)), tileFloor)
	t.Label("floor")
	for _, b := range tileBias {
		t.clear(b)
	}
	t.Load(t.Param("ldc"), t.ldc)
	t.Load(t.Param("from"), t.from)
	t.SUBQ(t.address("c"), t.from)
	t.Load(t.Param("mask"), t.mask)
	t.SUBQ(t.address("c"), t.mask)
}

// columns moves the epilogue to the next strip, when no row of the previous one is waiting.
func (t *tileGen) columns() {
	n, all, bias := t.piece, t.c0, t.piece
	t.Load(t.Param("columns"), n)
	t.MOVL(operand.U32(math.MaxUint32), all.As32())
	t.BZHIQ(n, all, all) // 32 or more: all
	t.KMOVW(all.As32(), reg.K1)
	t.SHRQ(operand.U8(16), all)
	t.KMOVW(all.As32(), reg.K2)
	t.SUBQ(operand.U32(stripWidth), t.address("columns"))
	t.Load(t.Param("bias"), bias)
	t.TESTQ(bias, bias)
	t.JZ(operand.LabelRef("unbiased"))
	for v, b := range tileBias {
		t.column(bias, v, b)
	}
	t.ADDQ(operand.U32(128), t.address("bias"))
	t.Label("unbiased")
	t.Load(t.Param("c"), t.c0)
	t.ADDQ(operand.U32(128), t.address("c"))
}

// column loads one of the two vectors of a row of C, or of a matrix laid out like C.
func (t *tileGen) column(row reg.GPPhysical, v int, d reg.Register) {
	t.loadTail(mem{Base: row, Disp: 64 * v}, tileColumns[v], d)
}

// rowsAtOnce rows of the last block are finished in each slot, so that one step finishes all rows.
const rowsAtOnce = blockRows / slots

// some emits the epilogue of up to rowsAtOnce of the waiting rows.
func (t *tileGen) some(nth int) {
	next, done := fmt.Sprintf("row%d", nth), fmt.Sprintf("rows%d", nth)
	t.MOVQ(operand.U32(rowsAtOnce), t.piece)
	t.TESTQ(t.waiting, t.waiting)
	t.JZ(operand.LabelRef(done))
	t.Label(next)
	t.row(nth)
	t.DECQ(t.waiting)
	t.JZ(operand.LabelRef(done))
	t.DECQ(t.piece)
	t.JNZ(operand.LabelRef(next))
	t.Label(done)
}

// row finishes one row of sums: from, bias, ReLU and mask.
func (t *tileGen) row(nth int) {
	x := []reg.VecPhysical{reg.Z0, reg.Z1}
	for v := range x {
		t.VMOVUPS(mem{Base: t.sum, Disp: 64 * v}, x[v])
	}
	t.TESTQ(operand.U32(flagFrom), t.address("flags"))
	t.JZ(operand.LabelRef(fmt.Sprintf("from%d", nth)))
	for v := range x {
		t.loadTail(mem{Base: t.c0, Index: t.from, Scale: 1, Disp: 64 * v}, tileColumns[v], reg.Z2)
		t.VADDPS(reg.Z2, x[v], x[v])
	}
	t.Label(fmt.Sprintf("from%d", nth))
	for v := range x {
		t.VADDPS(tileBias[v], x[v], x[v])
		t.VMAXPS(x[v], tileFloor, x[v]) // this order keeps NaN
	}
	t.TESTQ(operand.U32(flagMask), t.address("flags"))
	t.JZ(operand.LabelRef(fmt.Sprintf("mask%d", nth)))
	for v := range x {
		t.loadTail(mem{Base: t.c0, Index: t.mask, Scale: 1, Disp: 64 * v}, tileColumns[v], reg.Z2)
		t.VCMPPS(lessThan, reg.Z2, tileZero, reg.K3) // 0 < mask
		t.keepInto(reg.K3, x[v], x[v])
	}
	t.Label(fmt.Sprintf("mask%d", nth))
	for v := range x {
		t.storeTail(x[v], tileColumns[v], mem{Base: t.c0, Disp: 64 * v})
	}
	t.ADDQ(operand.U32(128), t.sum)
	t.ADDQ(t.ldc, t.c0)
}
