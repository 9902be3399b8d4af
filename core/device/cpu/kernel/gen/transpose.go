package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var ymm = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
	reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}

var zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
	reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}

// transpose emits the transposition of 8 or 16 rows by 8·blocks columns. Strides are in bytes.
// Sixteen rows fill whole cache lines of the result.
func (g *gen) transpose(rows int) {
	g.begin(fmt.Sprintf("Transpose%d", rows), "func(blocks int, src *float32, lds int, dst *float32, ldd int)")
	blocks, src, lds, dst, ldd := g.arg("blocks"), g.arg("src"), g.arg("lds"), g.arg("dst"), g.arg("ldd")
	src4, dst4, lds3, ldd3 := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(mem{Base: lds, Index: lds, Scale: 2}, lds3)
	g.LEAQ(mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	line := func(low, high reg.GPVirtual, ld, ld3 reg.GPVirtual, i int) mem {
		m := mem{Base: low}
		if i >= 4 {
			m.Base = high
		}
		switch i % 4 {
		case 1:
			m.Index, m.Scale = ld, 1
		case 2:
			m.Index, m.Scale = ld, 2
		case 3:
			m.Index, m.Scale = ld3, 1
		}
		return m
	}
	g.LEAQ(mem{Base: dst, Index: ldd, Scale: 4}, dst4)
	g.Label("block")
	for row := 0; row < rows; row += 8 {
		if row > 0 {
			g.LEAQ(mem{Base: src, Index: lds, Scale: 8}, src)
		}
		g.LEAQ(mem{Base: src, Index: lds, Scale: 4}, src4)
		for i := range 4 { // rows i and i+4 side by side: quarters of columns 0–3, then 4–7
			for half := range 2 {
				lo, hi := line(src, src4, lds, lds3, i), line(src, src4, lds, lds3, i+4)
				lo.Disp, hi.Disp = 16*half, 16*half
				g.VMOVUPS(lo, ymm[4*half+i].AsX())
				g.VINSERTF128(operand.U8(1), hi, ymm[4*half+i], ymm[4*half+i])
			}
		}
		for half := range 2 {
			in, t := ymm[4*half:4*half+4], ymm[8+4*half:]
			g.VUNPCKLPS(in[1], in[0], t[0])
			g.VUNPCKHPS(in[1], in[0], t[1])
			g.VUNPCKLPS(in[3], in[2], t[2])
			g.VUNPCKHPS(in[3], in[2], t[3])
			g.VUNPCKLPD(t[2], t[0], in[0])
			g.VUNPCKHPD(t[2], t[0], in[1])
			g.VUNPCKLPD(t[3], t[1], in[2])
			g.VUNPCKHPD(t[3], t[1], in[3])
		}
		for j := range 8 {
			to := line(dst, dst4, ldd, ldd3, j)
			to.Disp = 4 * row
			g.VMOVUPS(ymm[j], to)
		}
	}
	if rows == 16 {
		g.MOVQ(lds, src4)
		g.SHLQ(operand.U8(3), src4)
		g.SUBQ(src4, src)
	}
	g.ADDQ(operand.U32(32), src)
	g.LEAQ(mem{Base: dst, Index: ldd, Scale: 8}, dst)
	g.LEAQ(mem{Base: dst4, Index: ldd, Scale: 8}, dst4)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.end()
}
