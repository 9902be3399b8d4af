package plan

import (
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// Every operation agrees with the reference on every family of kernels, at awkward shapes and at
// random ones, some of which are large enough for whole vectors.
func TestOperationsAgreeWithTheReference(t *testing.T) {
	shapes := append(slices.Clone(optest.Corners), optest.Shape{B: 33, C: 40}, optest.Shape{N: 2, B: 19, C: 17})
	for _, family := range kernel.Available() {
		dev := cputest.New(t, cpu.Options{Threads: 1, Family: family})
		for _, c := range optest.All() {
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				for _, s := range append(slices.Clone(shapes), optest.Random(uint64(len(c.Name)), 2, 40, 70)...) {
					if c.Fits(s) && !t.Failed() {
						agree(t, c.At(s).Example(t), dev)
					}
				}
			})
		}
	}
}

// A batch without rows is legal where a case says so.
func TestOperationsOnNoRows(t *testing.T) {
	dev := machine(t)
	optest.NoRows(t, func(t *testing.T, e optest.Example) optest.Program {
		p, _ := compile(t, e, dev, nil)
		return p
	})
}

// A batch without rows is legal too where the weights are so large that lanes divide them, instead
// of rows.
func TestLargeWeightsOnNoRows(t *testing.T) {
	const wide = 512
	x, w, b := op.NewTensor("x", 0, wide), op.NewTensor("w", wide, wide), op.NewTensor("b", wide)
	d := optest.Example{Name: "large weights", Wrt: []*op.Tensor{x, w, b}, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		y := g.Linear(g.Bind(x), g.Bind(w), g.Bind(b))
		return g.Sum(y, 1), []*op.Node{y}
	}}
	p, _ := compile(t, d, machine(t), nil)
	d.NoGradients(t, p)
}

// Every kind of operation is in the table; a gradient counts by the operation that it belongs to.
func TestTheTableHasEveryOperation(t *testing.T) {
	seen := map[op.Kind]bool{}
	for _, c := range optest.All() {
		i := c.At(optest.Shape{B: 6, C: 4})
		var loss *op.Node
		g, err := op.Build(c.Name, func(g *op.Graph) { loss, _ = i.Build(g) })
		if err != nil {
			t.Fatal(err)
		}
		if loss != nil {
			if _, err := g.Grad(loss, i.Wrt...); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range g.Expr().AllNodes() {
			if o, ours := n.Op().(*op.Op); ours {
				seen[o.Kind] = true
			}
		}
	}
	for kind := range codes {
		if !seen[kind] {
			t.Errorf("%v is in no case", kind)
		}
	}
}
