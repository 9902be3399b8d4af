package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// While the matrix unit works, most of the core's other slots are free. The kernels use them to
// split the next columns of B: in every slot of a step a few rows, in whole units of whole panels.
// The state is in memory that outlives a call.
//
// The fields of that memory, as in kernel.ahead; they are in bytes, except the counts.
const (
	aheadRows  = 8 * iota // rows of tiles still to be split; 0: nothing
	aheadQuota            // rows per slot
	aheadSrc              // the next row
	aheadDst              // where the next row goes
	aheadStep             // distance from a row to the next
	aheadHalf             // distance from a row to the one it is paired with, 16 steps
	aheadLeft             // rows left in this tile
	aheadUnit             // units left in this panel
	aheadUnits            // units of a panel
	aheadPanel            // distance from the end of a panel's last unit to the first of the next
	aheadSkip             // the same distance in the destination
)

// splitHalf and splitTop are the constants for rounding to bfloat16.
var splitHalf, splitTop = reg.Z30, reg.Z31

func (t *tileGen) splitConstants() {
	t.VMOVUPS(t.bits(0x8000), splitHalf)
	t.VMOVUPS(t.bits(0xffff0000), splitTop)
}

// ahead splits the next rows, in a slot of a step.
func (t *tileGen) ahead(nth int) {
	label := func(name string) string { return fmt.Sprintf("%s%d", name, nth) }
	to := func(name string) operand.LabelRef { return operand.LabelRef(label(name)) }
	state, row, dst, half, n := t.piece, t.sum, t.c0, t.ldc, t.waiting
	field := func(at int) mem { return mem{Base: state, Disp: at} }
	fields := []struct {
		at int
		r  reg.GPPhysical
	}{{aheadSrc, row}, {aheadDst, dst}, {aheadHalf, half}, {aheadQuota, n}}
	t.MOVQ(state, t.saved[len(fields)])
	t.Load(t.Param("ahead"), state)
	t.CMPQ(field(aheadRows), operand.U8(0))
	t.JZ(to("none"))
	for i, f := range fields {
		t.MOVQ(f.r, t.saved[i])
		t.MOVQ(field(f.at), f.r)
	}
	t.Label(label("split"))
	t.splitRow(row, half, dst)
	t.ADDQ(field(aheadStep), row)
	t.ADDQ(operand.U32(64), dst)
	t.DECQ(field(aheadLeft))
	t.JNZ(to("same"))
	t.MOVQ(operand.U32(16), field(aheadLeft))
	t.ADDQ(half, row)
	t.ADDQ(operand.U32(unitBytes-planeBytes), dst)
	t.DECQ(field(aheadUnit))
	t.JNZ(to("same"))
	t.MOVQ(field(aheadUnits), half)
	t.MOVQ(half, field(aheadUnit))
	t.MOVQ(field(aheadHalf), half)
	t.ADDQ(field(aheadPanel), row)
	t.ADDQ(field(aheadSkip), dst)
	t.Label(label("same"))
	t.DECQ(field(aheadRows))
	t.JZ(to("done")) // src and dst stay as they are: there may be nothing after the last row
	t.DECQ(n)
	t.JNZ(to("split"))
	t.MOVQ(row, field(aheadSrc))
	t.MOVQ(dst, field(aheadDst))
	t.Label(label("done"))
	for i, f := range fields {
		t.MOVQ(t.saved[i], f.r)
	}
	t.Label(label("none"))
	t.MOVQ(t.saved[len(fields)], state)
}

// splitRow loads a row of 16 pairs and writes it to the three planes.
func (t *tileGen) splitRow(row, half, to reg.GPPhysical) {
	x, h := [2]reg.Register{reg.Z20, reg.Z21}, [2]reg.Register{reg.Z22, reg.Z23}
	t.VMOVUPS(mem{Base: row}, x[0])
	t.VMOVUPS(mem{Base: row, Index: half, Scale: 1}, x[1])
	t.planes(x, h, reg.Z24, splitHalf, splitTop, to)
}
