package plan

import (
	"math"
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
						agree(t, instance(c.At(s)), dev)
					}
				}
			})
		}
	}
}

// instance is an example of one operation.
func instance(c *optest.Instance) example {
	d := example{name: c.Case.Name + " " + c.Shape.String(), tolerance: c.Tolerance, build: func(g *op.Graph) (*op.Node, []*op.Node) {
		loss, out := c.Build(g)
		return loss, []*op.Node{out}
	}}
	// It is built once to learn which tensors receive a gradient.
	if _, err := op.Build(d.name, func(g *op.Graph) { c.Build(g) }); err == nil {
		d.wrt = c.Wrt
	}
	return d
}

// A batch without rows is legal where a case says so: the result is empty, and the gradients of
// parameters are zero.
func TestOperationsOnNoRows(t *testing.T) {
	dev := machine(t)
	for _, c := range optest.All() {
		for _, s := range []optest.Shape{{N: 0, B: 0, C: 3}, {N: 2, B: 0, C: 3}} {
			if !c.Fits(s) {
				continue
			}
			t.Run(c.Name+" "+s.String(), func(t *testing.T) {
				d := instance(c.At(s))
				p, _ := compile(t, d, dev, nil)
				if err := p.Run(0); err != nil {
					t.Fatal(err)
				}
				for _, w := range d.wrt {
					g, err := p.Gradient(w)
					if err != nil {
						t.Fatal(err)
					}
					if i := slices.IndexFunc(g, func(v float32) bool { return v != 0 }); i >= 0 {
						t.Errorf("gradient of %s: element %d is %v, want 0", w.Name, i, g[i])
					}
				}
				if len(d.wrt) > 0 && math.IsNaN(p.Loss()) {
					t.Error("the loss of no rows is NaN")
				}
			})
		}
	}
}

// A batch without rows is legal too where the weights are so large that lanes divide them, instead
// of rows.
func TestLargeWeightsOnNoRows(t *testing.T) {
	const wide = 512
	x, w, b := op.NewTensor("x", 0, wide), op.NewTensor("w", wide, wide), op.NewTensor("b", wide)
	d := example{name: "large weights", wrt: []*op.Tensor{x, w, b}, build: func(g *op.Graph) (*op.Node, []*op.Node) {
		y := g.Linear(g.Bind(x), g.Bind(w), g.Bind(b))
		return g.Sum(y, 1), []*op.Node{y}
	}}
	p, _ := compile(t, d, machine(t), nil)
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	for _, x := range d.wrt {
		g, err := p.Gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(g, func(v float32) bool { return v != 0 }); i >= 0 {
			t.Errorf("gradient of %s: element %d is %v, want 0", x.Name, i, g[i])
		}
	}
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
