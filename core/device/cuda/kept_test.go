package cuda

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// layer is a program that multiplies by a weight, another like it, one that multiplies by
// the transposed weight, and one that changes the weight.
type layer struct {
	dev                         device.Device
	x, y, w, b, by              *op.Tensor
	forward, also, back, change *plan.Program
	product                     *op.Node
}

// newLayer compiles the programs for a device that keeps the weight.
func newLayer(t *testing.T, dev device.Device) *layer {
	t.Helper()
	l := &layer{dev: dev, x: tensor("x", 5, 6), y: tensor("y", 5, 7), w: tensor("w", 6, 7), b: op.NewTensor("b", 7), by: tensor("by", 6, 7)}
	if err := plan.Push(dev, l.w); err != nil {
		t.Fatal(err)
	}
	forward := func(g *op.Graph) plan.Spec {
		l.product = g.Linear(g.Bind(l.x), g.Bind(l.w), g.Bind(l.b))
		return plan.Spec{Outputs: []*op.Node{l.product}, Finite: []*op.Node{l.product}}
	}
	l.also, l.forward = compiled(t, dev, "also", forward), compiled(t, dev, "forward", forward)
	l.back = compiled(t, dev, "back", func(g *op.Graph) plan.Spec {
		out := g.Linear(g.Bind(l.x), g.Bind(l.w), g.Bind(l.b))
		return plan.Spec{Loss: g.SquaredError(out, g.Bind(l.y), 1), Gradients: []*op.Tensor{l.x}}
	})
	l.change = compiled(t, dev, "change", func(g *op.Graph) plan.Spec {
		return plan.Spec{Lerps: []plan.Lerp{{Dst: l.w, Node: g.Add(g.Bind(l.w), g.Bind(l.by))}}}
	})
	return l
}

func compiled(t *testing.T, dev device.Device, name string, build func(g *op.Graph) plan.Spec) *plan.Program {
	t.Helper()
	var spec plan.Spec
	g, err := op.Build(name, func(g *op.Graph) { spec = build(g) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// agrees compares a product with the weight that the device has.
func (l *layer) agrees(t *testing.T, when string, got []float32) {
	t.Helper()
	if err := plan.Fetch(l.dev, l.w); err != nil {
		t.Fatal(err)
	}
	want := make([]float32, len(got))
	for i := range want {
		for k := range 6 {
			want[i] += l.x.Data[i/7*6+k] * l.w.Data[7*k+i%7]
		}
	}
	close32(t, when, got, want, 0.02)
}

// run runs programs and checks the product of the last one, which is forward.
func (l *layer) run(t *testing.T, when string, programs ...*plan.Program) {
	t.Helper()
	for _, p := range append(programs, l.forward) {
		if err := p.Run(0); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	l.agrees(t, when, l.forward.Data(l.product))
}

// A weight that programs only read is laid out for their products once, and again whenever it has
// changed: by a program, by the host, in a sequence, or because the GPU was given away meanwhile.
func TestWeightsStayLaidOut(t *testing.T) {
	for precision, name := range map[kernel.Precision]string{kernel.TF32: "TF32", kernel.BF16: "BF16"} {
		t.Run(name, func(t *testing.T) {
			dev := hopper(t, Options{Precision: precision, Tile: "packed_" + name + "_128x128"})
			if dev.sm() != 90 {
				t.Skip("operands are packed on compute capability 9.0 alone")
			}
			l := newLayer(t, dev)
			laid := 0
			expect := func(times int, when string, programs ...*plan.Program) {
				t.Helper()
				l.run(t, when, programs...)
				if n := launched.names["pack_turned_"+name]; n != laid+times {
					t.Errorf("%s: the weight was laid out %d times, want %d", when, n-laid, times)
				}
				laid = launched.names["pack_turned_"+name]
			}
			laid = launched.names["pack_turned_"+name]
			expect(1, "at first")
			expect(0, "again", l.forward)
			expect(0, "in another program", l.also)
			expect(1, "after a program's change", l.change)
			l.w.Data[3] += 2
			if err := plan.Push(dev, l.w); err != nil {
				t.Fatal(err)
			}
			expect(1, "after the host's change")
			if err := dev.Park(); err != nil {
				t.Fatal(err)
			}
			expect(1, "after parking", l.forward)
			expect(0, "after that")
			l.inSequence(t, dev)
			laid = launched.names["pack_turned_"+name]
			expect(1, "after a sequence")
		})
	}
}

// inSequence runs programs as one, in which the weight changes between its uses.
func (l *layer) inSequence(t *testing.T, dev *Device) {
	t.Helper()
	s, err := plan.NewSequence(dev, []*plan.Program{l.forward, l.change, l.forward})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	readers, err := plan.NewSequence(dev, []*plan.Program{l.forward, l.also, l.forward})
	if err != nil {
		t.Fatal(err)
	}
	defer readers.Close()
	for _, changed := range []bool{false, true, false} {
		if changed {
			l.run(t, "between sequences", l.change)
		}
		want := slices.Clone(l.product32(t)) // lays the weight out if it has changed
		before := maps.Clone(launched.names)
		if err := readers.Run([]uint64{0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		for name, n := range launched.names {
			if strings.HasPrefix(name, "pack_turned") && n != before[name] {
				t.Errorf("a sequence that does not write the weight laid it out %d times", n-before[name])
			}
		}
		close32(t, "in a sequence of readers", readers.Data(2, l.product), want, 0)
	}
	if err := l.change.Run(0); err != nil {
		t.Fatal(err)
	}
	if err := readers.Run([]uint64{0, 0, 0}); err != nil { // which lays the weight out
		t.Fatal(err)
	}
	l.agrees(t, "in a sequence after a change", readers.Data(2, l.product))
	for range 2 {
		before := slices.Clone(l.product32(t))
		if err := s.Run([]uint64{0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		close32(t, "before the change", s.Data(0, l.product), before, 0)
		l.agrees(t, "after the change", s.Data(2, l.product))
	}
}

// product32 is the product with the weight as it is.
func (l *layer) product32(t *testing.T) []float32 {
	t.Helper()
	if err := l.forward.Run(0); err != nil {
		t.Fatal(err)
	}
	return l.forward.Data(l.product)
}

// The gradient by a layer's input multiplies by the weight as it stands, not transposed.
func TestGradientsReadWeightsThatStayLaidOut(t *testing.T) {
	for precision, name := range map[kernel.Precision]string{kernel.TF32: "TF32", kernel.BF16: "BF16"} {
		t.Run(name, func(t *testing.T) {
			dev, cpu := hopper(t, Options{Precision: precision, Tile: "packed_" + name + "_128x128"}), onCPU(t)
			on, want := newLayer(t, dev), newLayer(t, cpu)
			for range 3 {
				var gradients [][]float32
				for _, l := range []*layer{on, want} {
					if err := l.back.Run(0); err != nil {
						t.Fatal(err)
					}
					gradient, err := l.back.Gradient(l.x)
					if err != nil {
						t.Fatal(err)
					}
					gradients = append(gradients, gradient)
					if err := l.change.Run(0); err != nil {
						t.Fatal(err)
					}
				}
				close32(t, "gradient", gradients[0], gradients[1], 0.03)
			}
		})
	}
}

// A number that is not finite is found in a product by a weight that stays laid out.
func TestFaultIsFoundInAProductByAKeptWeight(t *testing.T) {
	dev := hopper(t, Options{Precision: kernel.TF32, Tile: "packed_TF32_128x128"})
	l := newLayer(t, dev)
	for i := range l.x.Data {
		l.x.Data[i] = 3e38
	}
	for i := range l.b.Data { // the tensor cores' sums stop at the largest number
		l.b.Data[i] = 3e38
	}
	err := l.forward.Run(0)
	if where := (*plan.NotFinite)(nil); !errors.As(err, &where) || !strings.Contains(err.Error(), "linear from x") {
		t.Errorf("the run says %v, want the layer", err)
	}
}
