package kernel

import (
	"fmt"
	"testing"

	"pgrlab/core/device"
)

// Two activations are operands of gradients of two kinds: the second kind's are made one by one, because a
// buffer has one place.
func TestABufferStandsInOneStack(t *testing.T) {
	p := &device.Program{Adam: &device.Adam{}}
	buffer := func(rows, cols int) device.Ref {
		p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: rows, Cols: cols})
		return device.Ref(len(p.Buffers) - 1)
	}
	source := buffer(256, 512)
	p.Buffers[source].Host = make([]float32, 256*512)
	do := func(code device.Code, rows, cols int, in ...device.Ref) device.Ref {
		out := buffer(rows, cols)
		p.Instrs = append(p.Instrs, device.Instr{Code: code, Out: out, In: in, Mask: device.None})
		return out
	}
	var x []device.Ref
	for range 2 {
		x = append(x, do(device.SiLU, 256, 512, source))
	}
	for _, out := range []int{512, 1024} {
		wide := buffer(256, out)
		p.Buffers[wide].Host = make([]float32, 256*out)
		for _, operand := range x {
			p.Adam.Grads = append(p.Adam.Grads, do(device.LinearDW, 512, out, operand, do(device.SiLU, 256, out, wide)))
		}
	}
	target := Target{SM: 90, Precision: TF32}
	arranged, _ := Arrange(p, target)
	segments, err := Segments(arranged, target)
	if err != nil {
		t.Fatal(err)
	}
	in, stacks := map[device.Ref]string{}, 0
	for _, s := range segments {
		for _, stack := range s.Stacks {
			stacks++
			for _, r := range stack {
				if was, twice := in[r]; twice && was != fmt.Sprint(stack) {
					t.Errorf("buffer %d stands in %s and in %v", r, was, stack)
				}
				in[r] = fmt.Sprint(stack)
			}
		}
	}
	if stacks != 3 {
		t.Errorf("%d stacks, want the three of one kind", stacks)
	}
}
