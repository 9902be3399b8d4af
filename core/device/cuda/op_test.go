package cuda

import (
	"fmt"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/op/optest"
	"pgrlab/core/plan"
)

// Every operation with its gradients, compiled as a program, against the CPU. On a
// GPU at many shapes; the interpreter has few here, for package kernel holds each
// kernel to the reference at more.
func TestOperationsAgreeWithTheCPU(t *testing.T) {
	shapes := []optest.Shape{{N: 2, B: 5, C: 3}, {N: 0, B: 7, C: 8}}
	if onGPU || soak {
		shapes = append(slices.Clone(optest.Corners), optest.Shape{B: 33, C: 40}, optest.Shape{N: 2, B: 19, C: 17}, optest.Shape{B: 130, C: 67})
	}
	if onGPU {
		shapes = append(shapes, optest.Shape{B: 300, C: 515}, optest.Shape{N: 3, B: 257, C: 129})
	}
	on, dev := onCPU(t), unchecked(t, Options{})
	for _, c := range optest.All() {
		t.Run(c.Name, func(t *testing.T) {
			for i, s := range append(slices.Clone(shapes), optest.Shape{N: 0, B: 0, C: 3}) {
				if !c.Fits(s) || t.Failed() || !onGPU && !soak && i == 1 && c.Fits(shapes[0]) {
					continue
				}
				// Sums of many terms in another order; the CPU's own tolerance to the
				// reference, twice.
				instance := c.At(s)
				agree(t, operation(t, instance, dev), operation(t, instance, on), 2*max(c.Tolerance, 1e-5))
			}
		})
	}
}

// operation says what an operation, its loss and its gradients are on a device.
func operation(t *testing.T, c *optest.Instance, dev device.Device) (s said) {
	t.Helper()
	var loss, out *op.Node
	g, err := op.Build(c.Name, func(g *op.Graph) { loss, out = c.Draw(g) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Loss: loss, Outputs: []*op.Node{out}, Gradients: c.Wrt}, dev)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(3); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%v: ", c.Shape)
	s.say(name+"result", 1, p.Data(out)...)
	if loss != nil {
		s.say(name+"loss", 1, float32(p.Loss()))
	}
	for _, w := range c.Wrt {
		gradient, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		s.say(name+"gradient of "+w.Name, 1, gradient...)
	}
	return s
}
