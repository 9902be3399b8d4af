package kernel

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/testing/optest"

	"gorgonia.org/gorgonia"
)

var soak = os.Getenv("PGRLAB_SOAK") != ""

// Every operation and its gradients agree with the reference in float64, computed by the PTX that a
// card would run. The tolerance is the CPU's: 1e-5 of a tensor's largest magnitude, or the case's
// own. As steps of chains they have the same bits.
func TestOperationsAgreeWithTheReference(t *testing.T) {
	shapes := []optest.Shape{{N: 0, B: 1, C: 1}, {N: 0, B: 6, C: 1}, {N: 0, B: 7, C: 8}, {N: 3, B: 5, C: 1}, {N: 3, B: 4, C: 7}, {N: 2, B: 19, C: 37}}
	if soak {
		shapes = append(slices.Clone(optest.Corners), optest.Shape{B: 33, C: 40}, optest.Shape{N: 2, B: 19, C: 17}, optest.Shape{B: 130, C: 67})
	}
	dev := newCard(t, Target{SM: 80})
	dev.chained = map[device.Code]bool{device.FillNormal: true, device.FillUniform: true} // they have a test of their own
	for _, c := range optest.All() {
		t.Run(c.Name, func(t *testing.T) {
			for _, s := range shapes {
				if c.Fits(s) && !t.Failed() {
					agree(t, c.At(s), dev)
				}
			}
		})
	}
	for code := range device.Codes {
		if chainable[code] != nil && !dev.chained[code] {
			t.Errorf("%v was a step of no chain", code)
		}
	}
}

// agree compares an instance's operation, loss and gradients on a card with those of Gorgonia's
// TapeMachine.
func agree(t *testing.T, c *optest.Instance, dev *card) {
	t.Helper()
	if _, err := op.Build(c.Name, func(g *op.Graph) { c.Build(g) }); err != nil { // to learn what receives a gradient
		t.Fatal(err)
	}
	p, out := compile(t, c, dev)
	if err := p.Run(0); err != nil {
		t.Fatalf("%v: %v", c.Shape, err)
	}
	var loss, result *op.Node
	var grads []*op.Node
	g, err := op.Build64(c.Name, func(g *op.Graph) { loss, result = c.Build(g) })
	if err != nil {
		t.Fatal(err)
	}
	if loss != nil {
		if grads, err = g.Grad(loss, c.Wrt...); err != nil {
			t.Fatal(err)
		}
	}
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	tolerance := max(c.Tolerance, 1e-5)
	near(t, c.Shape.String()+": result", p.Data(out), numbers(result), tolerance)
	if loss != nil {
		want := numbers(loss)[0]
		near(t, c.Shape.String()+": loss", []float32{float32(p.Loss())}, []float64{want}, tolerance*(1+math.Abs(want))/math.Abs(want))
	}
	for i, w := range c.Wrt {
		got, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.Shape.String()+": gradient of "+w.Name, got, numbers(grads[i]), tolerance)
	}
	chained := *dev
	chained.chains = true
	q, same := compile(t, c, &chained)
	if err := q.Run(0); err != nil {
		t.Fatalf("%v in chains: %v", c.Shape, err)
	}
	equal(t, c.Shape.String()+" in chains: result", q.Data(same), p.Data(out))
	for _, w := range c.Wrt {
		got, _ := q.Gradient(w)
		want, _ := p.Gradient(w)
		equal(t, c.Shape.String()+" in chains: gradient of "+w.Name, got, want)
	}
}

// equal checks that the bits are the same.
func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func compile(t *testing.T, c *optest.Instance, dev *card) (*plan.Program, *op.Node) {
	t.Helper()
	var s plan.Spec
	g, err := op.Build(c.Name, func(g *op.Graph) {
		loss, out := c.Build(g)
		s.Loss, s.Outputs = loss, []*op.Node{out}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Gradients = c.Wrt
	p, err := plan.Compile(g, s, dev)
	if err != nil {
		t.Fatal(err)
	}
	return p, s.Outputs[0]
}

func numbers(n *op.Node) []float64 {
	if x, scalar := n.Value().Data().(float64); scalar {
		return []float64{x}
	}
	return n.Value().Data().([]float64)
}

func near(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
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

// A batch without rows is legal where a case says so: the result is empty, and the gradients of
// parameters are zero.
func TestOperationsOnNoRows(t *testing.T) {
	dev := newCard(t, Target{SM: 80})
	for _, c := range optest.All() {
		for _, s := range []optest.Shape{{N: 0, B: 0, C: 3}, {N: 2, B: 0, C: 3}} {
			if !c.Fits(s) {
				continue
			}
			t.Run(c.Name+" "+s.String(), func(t *testing.T) {
				i := c.At(s)
				if _, err := op.Build(c.Name, func(g *op.Graph) { i.Build(g) }); err != nil {
					t.Fatal(err)
				}
				p, _ := compile(t, i, dev)
				if err := p.Run(0); err != nil {
					t.Fatal(err)
				}
				for _, w := range i.Wrt {
					g, err := p.Gradient(w)
					if err != nil {
						t.Fatal(err)
					}
					if i := slices.IndexFunc(g, func(v float32) bool { return v != 0 }); i >= 0 {
						t.Errorf("gradient of %s: element %d is %v, want 0", w.Name, i, g[i])
					}
				}
				if len(i.Wrt) > 0 && math.IsNaN(p.Loss()) {
					t.Error("the loss of no rows is NaN")
				}
			})
		}
	}
}

// Every instruction has a recipe.
func TestEveryCodeHasARecipe(t *testing.T) {
	var missing []string
	for code := range device.Codes {
		if lowerings[code] == nil {
			missing = append(missing, code.String())
		}
	}
	if len(missing) > 0 {
		t.Errorf("no recipe for %s", strings.Join(missing, ", "))
	}
}
