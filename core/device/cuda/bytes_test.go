package cuda

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/window"
)

// Bytes become the numbers that package window gives for them, to the bit, in rows of whole words
// and others, whatever floating-point numbers their words would be: here half of them are infinite
// or NaN, quiet or signalling. A run that meets a number that is not finite does not blame them.
func TestBytesBecomeNumbers(t *testing.T) {
	dev := card(t, Options{})
	for _, size := range []int{3, 64, 515} {
		const rows = 4
		words, factor, tone := tensor("words", rows, op.Words(size)), tensor("factor", rows, 1), window.NewTone(-0.5)
		bytes := device.Bytes(words.Data)
		for i := range bytes {
			bytes[i] = byte(37*i + i/251)
			if i%8 > 5 {
				bytes[i] |= 0x7f // infinity or NaN
			}
		}
		for i := range factor.Data {
			factor.Data[i] = 1
		}
		var x *op.Node
		p, err := plan.Build("bytes", dev, func(g *op.Graph) plan.Spec {
			x = g.FromBytes(g.Bind(words), size, -0.5)
			return plan.Spec{Outputs: []*op.Node{x}, Finite: []*op.Node{g.Log(g.Bind(factor))}}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		for i, got := range p.Data(x) {
			if want := tone[bytes[i/size*4*op.Words(size)+i%size]]; math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("rows of %d bytes: element %d is %v, want %v", size, i, got, want)
			}
		}
		factor.Data[0] = -1
		var e *plan.NotFinite
		if err := p.Run(1); !errors.As(err, &e) || e.Op != "log" {
			t.Errorf("the logarithm of −1 is found as %v", err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
