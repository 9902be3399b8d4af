package op

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/window"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// evaluate64 computes an operation with its reference implementation.
func evaluate64(t *testing.T, kind Kind, over window.Geometry, operands ...*tensor.Dense) []float64 {
	t.Helper()
	o := &Op{Kind: kind, Attr: Attr{Window: over}, of: tensor.Float64}
	values := make([]gorgonia.Value, len(operands))
	for i, x := range operands {
		values[i] = x
	}
	v, err := o.Do(values...)
	if err != nil {
		t.Fatal(err)
	}
	return v.Data().([]float64)
}

func matrix64(data []float64, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// The numbers of testdata/conv_torch.py come from PyTorch and are exact in float64.
func TestConvolutionsArePyTorchs(t *testing.T) {
	text, err := os.ReadFile("testdata/conv_torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Batch, Channels, Out int
		Cases                []struct {
			Op            string
			Window        [5]int
			Y, DX, DW, DB []float64
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	operand := func(seed, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64((i*i*13+i*29+seed*7)%31-15) / 8
		}
		return x
	}
	b := golden.Batch
	for _, c := range golden.Cases {
		over := window.Geometry{Height: c.Window[0], Width: c.Window[1], Channels: golden.Channels, Kernel: c.Window[2], Stride: c.Window[3], Pad: c.Window[4]}
		same := func(what string, got, want []float64) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s %+v: %s is %v, PyTorch has %v", c.Op, over, what, got, want)
			}
		}
		x := matrix64(operand(1, b*over.Size()), b, over.Size())
		if c.Op == "MaxPool" {
			dy := matrix64(operand(4, b*over.Places()*over.Channels), b, over.Places()*over.Channels)
			same("y", evaluate64(t, MaxPool, over, x), c.Y)
			same("dx", evaluate64(t, MaxPoolGrad, over, x, dy), c.DX)
			continue
		}
		w, bias := matrix64(operand(2, over.Patch()*golden.Out), over.Patch(), golden.Out), matrix64(operand(3, golden.Out), golden.Out)
		dz := matrix64(operand(4, b*over.Places()*golden.Out), b, over.Places()*golden.Out)
		same("y", evaluate64(t, Conv, over, x, w, bias), c.Y)
		same("dx", evaluate64(t, ConvDX, over, dz, w), c.DX)
		same("dw", evaluate64(t, ConvDW, over, x, dz), c.DW)
		same("db", evaluate64(t, ConvDB, over, dz), c.DB)
	}
	if len(golden.Cases) < 14 {
		t.Errorf("only %d cases", len(golden.Cases))
	}
}

// geometry returns a random window with few channels.
func geometry(r *rand.Rand) window.Geometry {
	for {
		over := window.Geometry{
			Height: 1 + r.IntN(12), Width: 1 + r.IntN(12), Channels: 1 + r.IntN(4), Kernel: 1 + r.IntN(8), Stride: 1 + r.IntN(4), Pad: r.IntN(4),
		}
		if over.Check() == nil {
			return over
		}
	}
}

func normal64(r *rand.Rand, shape ...int) *tensor.Dense {
	x := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return matrix64(x, shape...)
}

func inner(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// The gradients are the adjoints of the linear maps x → Conv and w → Conv: ⟨Conv(x,w), dz⟩ = ⟨x,
// ConvDX(dz,w)⟩ = ⟨w, ConvDW(x,dz)⟩.
func TestGradientsOfConvAreAdjoint(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		over, b, out := geometry(r), 1+r.IntN(3), 1+r.IntN(5)
		x, w, dz := normal64(r, b, over.Size()), normal64(r, over.Patch(), out), normal64(r, b, over.Places()*out)
		zero := matrix64(make([]float64, out), out)
		y := inner(evaluate64(t, Conv, over, x, w, zero), dz.Data().([]float64))
		dx := inner(x.Data().([]float64), evaluate64(t, ConvDX, over, dz, w))
		dw := inner(w.Data().([]float64), evaluate64(t, ConvDW, over, x, dz))
		size := math.Sqrt(inner(x.Data().([]float64), x.Data().([]float64)) * inner(dz.Data().([]float64), dz.Data().([]float64)) * inner(w.Data().([]float64), w.Data().([]float64)))
		if math.Abs(y-dx) > 1e-12*size || math.Abs(y-dw) > 1e-12*size {
			t.Fatalf("%+v: ⟨Conv x, dz⟩ = %.15g, ⟨x, ConvDX dz⟩ = %.15g, ⟨w, ConvDW⟩ = %.15g", over, y, dx, dw)
		}
	}
}

// The oracle is Gorgonia's own Conv2d, for images in NCHW order and without a bias, with its
// symbolic gradients. It serves for small images only: its matrix of windows is as large as all
// windows together, and its tests cover neither batches nor gradients.
func TestConvAgreesWithGorgonias(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, over := range []window.Geometry{
		{Height: 9, Width: 9, Channels: 3, Kernel: 3, Stride: 1}, {Height: 9, Width: 9, Channels: 3, Kernel: 3, Stride: 2},
		{Height: 8, Width: 8, Channels: 2, Kernel: 3, Stride: 1, Pad: 1}, {Height: 8, Width: 8, Channels: 2, Kernel: 4, Stride: 2},
		{Height: 7, Width: 7, Channels: 1, Kernel: 5, Stride: 1, Pad: 2},
	} {
		const b, out = 2, 4
		x, w, dz := normal64(r, b, over.Size()), normal64(r, over.Patch(), out), normal64(r, b, over.Places()*out)
		height, width := over.Out()
		k := over.Kernel
		g := gorgonia.NewGraph()
		operand := func(name string, t *tensor.Dense, nhwc []int, axes ...int) *gorgonia.Node {
			t = t.Clone().(*tensor.Dense)
			if err := each(t.Reshape(nhwc...), t.T(axes...), t.Transpose()); err != nil {
				panic(err)
			}
			return gorgonia.NewTensor(g, tensor.Float64, 4, gorgonia.WithShape(t.Shape()...), gorgonia.WithName(name), gorgonia.WithValue(t))
		}
		image := operand("x", x, []int{b, over.Height, over.Width, over.Channels}, 0, 3, 1, 2)
		filter := operand("w", w, []int{k, k, over.Channels, out}, 3, 2, 0, 1)
		slopes := operand("dz", dz, []int{b, height, width, out}, 0, 3, 1, 2)
		y := gorgonia.Must(gorgonia.Conv2d(image, filter, tensor.Shape{k, k}, []int{over.Pad, over.Pad}, []int{over.Stride, over.Stride}, []int{1, 1}))
		loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(y, slopes))))
		grads, err := gorgonia.Grad(loss, image, filter)
		if err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(g)
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		like := func(what string, got []float64, n *gorgonia.Node, axes ...int) {
			t.Helper()
			d := n.Value().(*tensor.Dense).Clone().(*tensor.Dense)
			if err := each(d.T(axes...), d.Transpose()); err != nil {
				t.Fatal(err)
			}
			for i, want := range d.Data().([]float64) {
				if math.Abs(got[i]-want) > 1e-11*(1+math.Abs(want)) {
					t.Fatalf("%+v: element %d of %s is %v, Gorgonia has %v", over, i, what, got[i], want)
				}
			}
		}
		like("y", evaluate64(t, Conv, over, x, w, matrix64(make([]float64, out), out)), y, 0, 2, 3, 1)
		like("dx", evaluate64(t, ConvDX, over, dz, w), grads[0], 0, 2, 3, 1)
		like("dw", evaluate64(t, ConvDW, over, x, dz), grads[1], 2, 3, 1, 0)
		vm.Close()
	}
}

// A NaN in a window counts as its largest number, and receives the gradient.
func TestMaxPoolKeepsNaN(t *testing.T) {
	nan := math.NaN()
	over := window.Geometry{Height: 1, Width: 4, Channels: 1, Kernel: 2, Stride: 2, Pad: 1}
	x := matrix64([]float64{1, nan, 2, 2}, 1, 4)
	y := evaluate64(t, MaxPool, over, x)
	// Windows cover pixels −1 and 0, 1 and 2, 3 and 4 of the image and of a line of padding.
	if len(y) != 3 || y[0] != 1 || !math.IsNaN(y[1]) || y[2] != 2 {
		t.Errorf("largest are %v, want 1, NaN, 2", y)
	}
	dx := evaluate64(t, MaxPoolGrad, over, x, matrix64([]float64{10, 20, 30}, 1, 3))
	if want := []float64{10, 20, 0, 30}; !slices.Equal(dx, want) {
		t.Errorf("gradient is %v, want %v", dx, want)
	}
}

func TestErrorsOfImages(t *testing.T) {
	over := window.Geometry{Height: 5, Width: 4, Channels: 2, Kernel: 3, Stride: 1}
	build := func(over window.Geometry, x, w, b []int) error {
		_, err := Build("faulty", func(g *Graph) { g.Conv(g.Input("x", x...), g.Input("w", w...), g.Input("b", b...), over) })
		return err
	}
	with := func(change func(g *window.Geometry)) window.Geometry {
		g := over
		change(&g)
		return g
	}
	x, w, b := []int{3, 40}, []int{18, 6}, []int{6}
	if err := build(over, x, w, b); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"images of 5×4×2 have 40 columns":                          build(over, []int{3, 41}, w, b),
		"want images without members":                              build(over, []int{2, 3, 40}, w, b),
		"w must have a row for each number in a window, 18":        build(over, x, []int{17, 6}, b),
		"b must be w without its rows":                             build(over, x, w, []int{5}),
		"pad 3 must be from 0 to 2":                                build(with(func(g *window.Geometry) { g.Pad = 3 }), x, w, b),
		"kernel 3 and stride 0 must be positive":                   build(with(func(g *window.Geometry) { g.Stride = 0 }), x, w, b),
		"an image of 5×4 with pad 0 is smaller than the kernel, 5": build(with(func(g *window.Geometry) { g.Kernel = 5 }), x, w, b),
		"an image of 0×4×2 has no pixels":                          build(with(func(g *window.Geometry) { g.Height = 0 }), x, w, b),
	} {
		var e *Error
		if !errors.As(err, &e) || e.Op != "Conv" || !strings.HasPrefix(e.Caller, "conv_test.go:") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want Conv at conv_test.go with %q", err, want)
		}
	}
}
