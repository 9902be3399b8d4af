package cuda

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// residual is a residual network of some blocks, of which the longer one adds at the end what its first layer made, and what
// it writes into a state.
type residual struct {
	program *plan.Program
	state   *op.Tensor
	weights []*op.Tensor
}

func newResidual(t *testing.T, dev device.Device, blocks, rows, width int) *residual {
	t.Helper()
	r := &residual{state: op.NewTensor("state", rows, width)}
	tensor := func(shape ...int) *op.Tensor {
		x := op.NewTensor(fmt.Sprint("tensor ", len(r.weights)), shape...)
		rng.New(3, x.Name).FillNormal(x.Data, 0, 0)
		for i := range x.Data {
			x.Data[i] /= float32(math.Sqrt(float64(width)))
		}
		r.weights = append(r.weights, x)
		return x
	}
	var err error
	r.program, err = plan.Build("residual", dev, func(g *op.Graph) plan.Spec {
		layer := func(x *op.Node) *op.Node {
			return g.Linear(x, g.Bind(tensor(width, width)), g.Bind(tensor(width)))
		}
		first := layer(g.Bind(tensor(rows, width)))
		h := first
		for range blocks {
			h = g.Add(h, layer(g.Mish(h)))
		}
		if blocks > 2 {
			h = g.Add(h, g.Mish(first))
		}
		h = g.AddColumns(layer(g.Mish(h)), g.Bind(tensor(rows, width/2)), width/2)
		return plan.Spec{Finite: []*op.Node{h}, Lerps: []plan.Lerp{{Dst: r.state, Node: h}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.program.Close() })
	return r
}

// A block of a residual network adds in place, and what is only on its way takes no memory: three matrices are
// enough, with the first one that is read again at the end four. One by one the instructions find the same fault as
// on the CPU, in the same memory.
func TestResidualsStandInPlace(t *testing.T) {
	const rows, width = 40, 36
	dev, apart := card(t, Options{}), card(t, Options{Without: "places"})
	for _, blocks := range []int{2, 4} {
		on, want := newResidual(t, dev, blocks, rows, width), newResidual(t, onCPU(t), blocks, rows, width)
		newResidual(t, apart, blocks, rows, width)
		for _, r := range []*residual{on, want} {
			if err := r.program.Run(0); err != nil {
				t.Fatal(err)
			}
		}
		if err := plan.Fetch(dev, on.state); err != nil {
			t.Fatal(err)
		}
		close32(t, "state", on.state.Data, want.state.Data, 1e-5)
		before := slices.Clone(on.state.Data)
		on.weights[3].Data[5], want.weights[3].Data[5] = float32(math.NaN()), float32(math.NaN())
		got, fault := on.program.Run(1), want.program.Run(1)
		if fault == nil || got == nil || got.Error() != fault.Error() {
			t.Errorf("%d blocks: %v, want %v", blocks, got, fault)
		}
		if err := plan.Fetch(dev, on.state); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(on.state.Data, before) {
			t.Errorf("%d blocks: the state has changed", blocks)
		}
	}
	for d, want := range map[*Device][]int{dev: {3, 4}, apart: {5, 7}} {
		var matrices []int
		for x := range d.executables {
			matrices = append(matrices, x.layout.work/padded(4*rows*width))
		}
		slices.Sort(matrices)
		if !slices.Equal(matrices, want) {
			t.Errorf("the workspaces have %v matrices, want %v", matrices, want)
		}
	}
}
