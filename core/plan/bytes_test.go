package plan

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/window"
)

// Bytes become the numbers that package window gives for them, to the bit, whatever floating-point
// numbers their words would be: here half of them are infinite or NaN, quiet or signalling. A run
// that meets a number that is not finite does not blame them.
func TestBytesBecomeNumbers(t *testing.T) {
	for _, family := range kernel.Available() {
		dev := cputest.New(t, cpu.Options{Threads: 1, Family: family})
		for _, size := range []int{1, 64, 513} {
			const rows = 3
			words, factor, tone := op.NewTensor("words", rows, op.Words(size)), op.NewTensor("factor", rows, size), window.NewTone(-0.5)
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
			var s Spec
			g, err := op.Build("bytes", func(g *op.Graph) {
				x := g.FromBytes(g.Bind(words), size, -0.5)
				y := g.Log(g.Bind(factor))
				s.Outputs, s.Finite = []*op.Node{x, y}, []*op.Node{y}
			})
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile(g, s, dev)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(0); err != nil {
				t.Fatal(err)
			}
			for i, got := range p.Data(s.Outputs[0]) {
				if want := tone[bytes[i/size*4*op.Words(size)+i%size]]; math.Float32bits(got) != math.Float32bits(want) {
					t.Fatalf("%s, rows of %d bytes: element %d is %v, want %v", family, size, i, got, want)
				}
			}
			factor.Data[0] = -1
			var e *NotFinite
			if err := p.Run(1); !errors.As(err, &e) || e.Op != "log" {
				t.Errorf("%s: the logarithm of −1 is found as %v", family, err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Only an input can hold bytes.
func TestBytesOfAResultAreRefused(t *testing.T) {
	_, err := op.Build("bytes", func(g *op.Graph) { g.FromBytes(g.Tanh(g.Input("x", 2, 3)), 12, 0) })
	if err == nil {
		t.Error("the result of an operation is taken for bytes")
	}
}
