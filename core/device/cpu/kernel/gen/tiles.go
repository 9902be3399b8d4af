package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The family "amx" computes products with Intel's AMX: eight tile registers of 16 rows of 64 bytes,
// and one instruction that adds the product of two bfloat16 tiles to a float32 tile, at sixteen
// times the rate of AVX-512. float32 has three times the precision of bfloat16, so an operand is
// split into three planes,
//
//	x = h + m + l exactly, |m| ≤ 2⁻⁸|x|, |l| ≤ 2⁻¹⁶|x|,
//
// and a product is the six significant terms, h·h, h·m, m·h, m·m, h·l and l·h. The omitted terms,
// at most 2⁻²⁴ of a product, are no more than one rounding of float32, and a sum over k is rounded
// less often than with multiply-adds: the tests check that the error is below theirs. The idea is
// that of Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations" (2019).
//
// A packed operand is a row of units. A unit is three tiles of 1 KiB, the planes of 16 rows of A,
// or 16 columns of B, over 32 steps of k. Lane j of row i of A's tile holds the pair of elements
// k+j and k+16+j of row i; lane i of row j of B's tile holds the same pair of column i. The sum
// does not depend on the order of k, and so no lanes move when a pair is made.
const (
	planeBytes = 1024
	unitBytes  = 3 * planeBytes
	// A block is what is summed at once: two tiles.
	blockRows, stripWidth = 16, 32
)

const (
	flagFrom = 4 // adds the product to the matrix at from
	flagMask = 8 // sets it to 0 where the matrix at mask is not > 0
)

// tiles is a separate instruction set beside AVX-512; it has products only.
var tiles = isa{"amx", 16, (*gen).tileKernels}

func (g *gen) tileKernels() {
	g.split()
	g.tileProduct()
	g.tileRange()
}

// split writes the planes of some tiles. Row i of each is made of the 16 numbers at src and the 16
// numbers second bytes after them; only the lanes up to the tails count. Then src moves by step,
// and after all rows of a tile by tile from the tile's first row.
func (g *gen) split() {
	g.begin("Split", "func(tiles, rows int, src *float32, step, second, tile int, dst *float32, tail0, tail1 int)")
	src, step, second, dst := g.arg("src"), g.arg("step"), g.arg("second"), g.arg("dst")
	m0, m1 := g.mask(), g.mask()
	g.tail(g.arg("tail0"), m0)
	g.tail(g.arg("tail1"), m1)
	half, top := g.load(g.bits(0x8000)), g.load(g.bits(0xffff0000))
	count, row, to := g.GP64(), g.GP64(), g.GP64()
	g.Label("tile")
	g.MOVQ(src, row)
	g.MOVQ(dst, to)
	g.Load(g.Param("rows"), count)
	g.Label("row")
	x, h := [2]reg.Register{g.vec(), g.vec()}, [2]reg.Register{g.vec(), g.vec()}
	g.loadTail(mem{Base: row}, m0, x[0])
	g.loadTail(mem{Base: row, Index: second, Scale: 1}, m1, x[1])
	g.planes(x, h, g.vec(), half, top, to)
	g.ADDQ(step, row)
	g.ADDQ(operand.U32(64), to)
	g.DECQ(count)
	g.JNZ(operand.LabelRef("row"))
	g.ADDQ(g.address("tile"), src)
	g.ADDQ(operand.U32(unitBytes), dst)
	g.DECQ(g.address("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.end()
}

// planes splits the numbers of x into a row of each plane at to, using scratch registers h and pair
// and the constants for rounding to bfloat16.
func (g *gen) planes(x, h [2]reg.Register, pair, half, top, to reg.Register) {
	for plane := range 2 {
		for i := range x { // to the nearest
			g.VPADDD(half, x[i], h[i])
			g.VPANDD(top, h[i], h[i])
		}
		g.VPSRLD(operand.U8(16), h[0], pair)
		g.VPORD(h[1], pair, pair)
		g.VMOVUPS(pair, mem{Base: to, Disp: plane * planeBytes})
		for i := range x {
			g.VSUBPS(h[i], x[i], x[i])
		}
	}
	g.VPSRLD(operand.U8(16), x[0], pair)
	g.VPTERNLOGD(operand.U8(0xf8), top, x[1], pair) // pair | x1&top
	g.VMOVUPS(pair, mem{Base: to, Disp: 2 * planeBytes})
}
