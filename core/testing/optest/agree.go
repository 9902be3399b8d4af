package optest

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/op"

	"gorgonia.org/gorgonia"
)

// Example is a graph, and the tensors that receive a gradient of its loss.
type Example struct {
	Name  string
	Wrt   []*op.Tensor
	Build func(g *op.Graph) (loss *op.Node, outputs []*op.Node) // the loss is nil without Wrt
	// Tolerance is a share of a tensor's largest magnitude; 0 stands for 1e-5, which is float32's
	// rounding through some ten operations.
	Tolerance float64
}

// Program is an example in float32, compiled.
type Program interface {
	Run(occasion uint64) error
	Data(n *op.Node) []float32
	Loss() float64
	Gradient(t *op.Tensor) ([]float32, error)
}

// Example is the instance alone in a graph. It is built once to learn what receives a gradient.
func (i *Instance) Example(t testing.TB) Example {
	t.Helper()
	e := Example{Name: i.Case.Name + " " + i.Shape.String(), Tolerance: i.Tolerance, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		loss, out := i.Build(g)
		return loss, []*op.Node{out}
	}}
	if _, err := op.Build(e.Name, func(g *op.Graph) { i.Build(g) }); err != nil {
		t.Fatal(err)
	}
	e.Wrt = i.Wrt
	return e
}

// Reference builds the example in float64, with the gradients of Wrt, for Gorgonia's TapeMachine.
func (e Example) Reference(t testing.TB) (loss *op.Node, outputs, grads []*op.Node, g *op.Graph) {
	t.Helper()
	g, err := op.Build64(e.Name, func(g *op.Graph) { loss, outputs = e.Build(g) })
	if err != nil {
		t.Fatal(err)
	}
	if loss != nil {
		if grads, err = g.Grad(loss, e.Wrt...); err != nil {
			t.Fatal(err)
		}
	}
	return loss, outputs, grads, g
}

// Agree runs a program of the example and compares outputs, loss and gradients with those of Gorgonia's
// TapeMachine, which runs the reference implementations in float64.
func (e Example) Agree(t testing.TB, p Program, outputs []*op.Node) {
	t.Helper()
	loss, want, grads, g := e.Reference(t)
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(0); err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	if loss != nil {
		if want := Numbers[float64](loss)[0]; !(math.Abs(p.Loss()-want) <= 1e-5*(1+math.Abs(want))) {
			t.Errorf("%s: loss is %v, the TapeMachine says %v", e.Name, p.Loss(), want)
		}
	}
	tolerance := max(e.Tolerance, 1e-5)
	for i, n := range outputs {
		Near(t, "output of "+e.Name, p.Data(n), Numbers[float64](want[i]), tolerance)
	}
	for i, w := range e.Wrt {
		got, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		Near(t, e.Name+": gradient of "+w.Name, got, Numbers[float64](grads[i]), tolerance)
	}
}

// NoRows tests that a batch without rows is legal where a case says so: the result is empty, and the
// gradients of parameters are zero.
func NoRows(t *testing.T, compile func(t *testing.T, e Example) Program) {
	for _, c := range All() {
		for _, s := range []Shape{{N: 0, B: 0, C: 3}, {N: 2, B: 0, C: 3}} {
			if c.Fits(s) {
				t.Run(c.Name+" "+s.String(), func(t *testing.T) {
					e := c.At(s).Example(t)
					e.NoGradients(t, compile(t, e))
				})
			}
		}
	}
}

// NoGradients runs a program of the example, whose gradients must be zero and its loss a number.
func (e Example) NoGradients(t *testing.T, p Program) {
	t.Helper()
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	for _, w := range e.Wrt {
		g, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(g, func(v float32) bool { return v != 0 }); i >= 0 {
			t.Errorf("gradient of %s: element %d is %v, want 0", w.Name, i, g[i])
		}
	}
	if len(e.Wrt) > 0 && math.IsNaN(p.Loss()) {
		t.Error("the loss of no rows is NaN")
	}
}

// Numbers returns the numbers of a node's value, a scalar or not.
func Numbers[T float32 | float64](n *op.Node) []T {
	if x, scalar := n.Value().Data().(T); scalar {
		return []T{x}
	}
	return n.Value().Data().([]T)
}

// Near compares numbers; the tolerance is a share of the largest magnitude among those wanted.
func Near(t testing.TB, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	scale := 1e-12
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= tolerance*scale) {
			t.Errorf("%s: element %d is %v, want %v (largest %v)", what, i, got[i], want[i], scale)
			return
		}
	}
}
