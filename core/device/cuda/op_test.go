package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/optest"
	"pgrlab/core/window"
)

// Every operation with its gradients, compiled as a program, agrees with the CPU. A GPU is tested
// at many shapes; the interpreter gets few here, since package kernel compares each kernel with the
// reference at more.
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
				// Sums of many terms are in another order: this is twice the CPU's own tolerance to
				// the reference.
				instance := c.At(s)
				agree(t, operation(t, instance, dev), operation(t, instance, on), 2*max(c.Tolerance, 1e-5))
			}
		})
	}
}

// alone is the number of instructions that form a chain in checks of the separate kernels: more
// than any program has.
const alone = 1 << 20

// Every operation is tested again, each of its instructions with its own kernel. Small programs use
// these kernels only for instructions that are not part of a chain.
func TestKernelsAgreeWithTheCPU(t *testing.T) {
	shapes := []optest.Shape{{N: 2, B: 5, C: 3}, {N: 0, B: 7, C: 8}}
	if onGPU {
		shapes = append(shapes, optest.Shape{B: 300, C: 515}, optest.Shape{N: 3, B: 257, C: 129})
	}
	on, dev := onCPU(t), unchecked(t, Options{Chain: alone})
	for _, c := range optest.All() {
		t.Run(c.Name, func(t *testing.T) {
			for i, s := range shapes {
				if !c.Fits(s) || !onGPU && i == 1 && c.Fits(shapes[0]) {
					continue
				}
				instance := c.At(s)
				agree(t, operation(t, instance, dev), operation(t, instance, on), 2*max(c.Tolerance, 1e-5))
			}
		})
	}
}

// These sums are over so many rows that several blocks share them, and a second kernel adds up
// their partial sums.
func TestSumsOfManyBlocks(t *testing.T) {
	on, dev := onCPU(t), unchecked(t, Options{Chain: alone})
	for _, c := range optest.All() {
		s := optest.Shape{B: 2051, C: 9}
		if !slices.ContainsFunc([]string{"Squared", "BatchNorm", "LayerNorm", "RMSNorm", "Linear"}, func(name string) bool { return strings.Contains(c.Name, name) }) || !c.Fits(s) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			instance := c.At(s)
			// The CPU adds some of these sums up in float32.
			agree(t, operation(t, instance, dev), operation(t, instance, on), 10*max(c.Tolerance, 1e-5))
		})
	}
}

// Convolutions of so many rows that their large tiles serve them, and their gradients.
func TestConvolutionsOfManyRows(t *testing.T) {
	images := 1
	if onGPU {
		images = 10 // a GPU has more multiprocessors to fill
	}
	on, dev := onCPU(t), unchecked(t, Options{})
	for _, over := range []window.Geometry{
		{Height: 131, Width: 121, Channels: 3, Kernel: 3, Stride: 2, Pad: 1},
		{Height: 61, Width: 60, Channels: 36, Kernel: 1, Stride: 1},
	} {
		convolution := func(dev device.Device) (s said) {
			out := 10 + over.Channels
			x, w, b := tensor("x", images, over.Size()), tensor("w", over.Patch(), out), tensor("b", out)
			y := tensor("y", images, over.Places()*out)
			var result, loss *op.Node
			g, err := op.Build("convolution", func(g *op.Graph) {
				result = g.Conv(g.Bind(x), g.Bind(w), g.Bind(b), over)
				loss = g.SquaredError(result, g.Bind(y), float64(len(y.Data)))
			})
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Compile(g, plan.Spec{Loss: loss, Outputs: []*op.Node{result}, Gradients: []*op.Tensor{x, w, b}}, dev)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := p.Run(0); err != nil {
				t.Fatal(err)
			}
			s.say(fmt.Sprintf("%v: result", over), 1, p.Data(result)...)
			for _, w := range []*op.Tensor{x, w, b} {
				gradient, err := p.Gradient(w)
				if err != nil {
					t.Fatal(err)
				}
				s.say(fmt.Sprintf("%v: gradient of %s", over, w.Name), 1, gradient...)
			}
			return s
		}
		agree(t, convolution(dev), convolution(on), 2e-5)
	}
}

// Random numbers are exactly those of package rng, in a chain and by their own kernels, from any
// item on, and for more items than a grid has threads.
func TestFills(t *testing.T) {
	stream := rng.New(8, "fills")
	elements := []int{1, 1003}
	if onGPU {
		elements = append(elements, 3_000_001)
	}
	for _, chain := range []int{0, alone} {
		dev := unchecked(t, Options{Chain: chain})
		for _, n := range elements {
			for _, items := range []*device.Items{nil, {First: 1<<33 + 4}} {
				p := &device.Program{Name: "fills"}
				for i, code := range []device.Code{device.FillNormal, device.FillUniform} {
					p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: n, Cols: 1})
					p.Instrs = append(p.Instrs, device.Instr{Code: code, Out: device.Ref(i), Mask: device.None, Fill: stream, Items: items})
					p.Keep = append(p.Keep, device.Ref(i))
				}
				x, err := dev.Compile(p)
				if err != nil {
					t.Fatal(err)
				}
				if err := x.Run(77); err != nil {
					t.Fatal(err)
				}
				first := uint64(0)
				if items != nil {
					first = items.First
				}
				want := make([]float32, n)
				for i, fill := range []func([]float32, uint64, uint64){stream.FillNormal, stream.FillUniform} {
					fill(want, 77, first)
					close32(t, fmt.Sprintf("%v of %d from %d on", p.Instrs[i].Code, n, first), x.Data(p.Keep[i]), want, 0)
				}
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// operation records the results of an operation, its loss and its gradients on a device.
func operation(t *testing.T, c *optest.Instance, dev device.Device) (s said) {
	t.Helper()
	var loss, out *op.Node
	g, err := op.Build(c.Name, func(g *op.Graph) { loss, out = c.Build(g) })
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
