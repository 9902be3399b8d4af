package main

import (
	"slices"
	"testing"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// TestInterleave checks that every part keeps its order and that parts of different lengths end
// together.
func TestInterleave(t *testing.T) {
	g := newGen(isas[0])
	g.begin("Interleaved", "func()")
	part := func(from, n int) func() {
		return func() {
			for i := range n {
				g.ADDQ(operand.U32(from+i), g.GP64())
			}
		}
	}
	g.ADDQ(operand.U32(1), g.GP64())
	g.interleave(part(10, 6), part(20, 3), func() { g.interleave(part(30, 1), part(40, 2)) })
	g.ADDQ(operand.U32(2), g.GP64())
	file, err := g.Result()
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, n := range file.Functions()[0].Nodes {
		got = append(got, int(n.(*ir.Instruction).Operands[0].(operand.U32)))
	}
	want := []int{1, 10, 20, 30, 11, 12, 21, 40, 13, 14, 22, 41, 15, 2}
	if !slices.Equal(got, want) {
		t.Errorf("the parts are emitted as %v, want %v", got, want)
	}
}
