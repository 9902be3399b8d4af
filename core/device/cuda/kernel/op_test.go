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
					agree(t, c.At(s).Example(t), dev)
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

// agree compares an instance's operation, loss and gradients on a card with the reference.
func agree(t *testing.T, e optest.Example, dev *card) {
	t.Helper()
	p, outputs := compile(t, e, dev)
	e.Agree(t, p, outputs)
	chained := *dev
	chained.chains = true
	q, same := compile(t, e, &chained)
	if err := q.Run(0); err != nil {
		t.Fatalf("%s in chains: %v", e.Name, err)
	}
	for i, out := range outputs {
		equal(t, e.Name+" in chains: result", q.Data(same[i]), p.Data(out))
	}
	for _, w := range e.Wrt {
		got, _ := q.Gradient(w)
		want, _ := p.Gradient(w)
		equal(t, e.Name+" in chains: gradient of "+w.Name, got, want)
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

func compile(t *testing.T, e optest.Example, dev *card) (*plan.Program, []*op.Node) {
	t.Helper()
	var outputs []*op.Node
	p, err := plan.Build(e.Name, dev, func(g *op.Graph) plan.Spec {
		s := plan.Spec{Gradients: e.Wrt}
		s.Loss, s.Outputs = e.Build(g)
		outputs = s.Outputs
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, outputs
}

// A batch without rows is legal where a case says so.
func TestOperationsOnNoRows(t *testing.T) {
	dev := newCard(t, Target{SM: 80})
	optest.NoRows(t, func(t *testing.T, e optest.Example) optest.Program {
		p, _ := compile(t, e, dev)
		return p
	})
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
