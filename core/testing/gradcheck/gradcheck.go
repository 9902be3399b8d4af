// Package gradcheck is for tests of gradients: two machines that compute them, and difference
// quotients to compare them with.
package gradcheck

import (
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"

	"gorgonia.org/gorgonia"
)

// Machine computes a scalar of a graph and its gradients.
type Machine func(t testing.TB, g *op.Graph, loss *op.Node, params []*op.Tensor) (value float64, grads [][]float32)

// Machines are Gorgonia's tape machine and programs on a device, by name.
func Machines(dev device.Device) map[string]Machine {
	return map[string]Machine{"tape machine": tapeMachine, "plan": On(dev)}
}

func tapeMachine(t testing.TB, g *op.Graph, loss *op.Node, params []*op.Tensor) (value float64, grads [][]float32) {
	t.Helper()
	nodes, err := g.Grad(loss, params...)
	if err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		grads = append(grads, n.Value().Data().([]float32))
	}
	return float64(loss.Value().Data().(float32)), grads
}

// On is the machine that compiles the graph for a device.
func On(dev device.Device) Machine {
	return func(t testing.TB, g *op.Graph, loss *op.Node, params []*op.Tensor) (value float64, grads [][]float32) {
		t.Helper()
		p, err := plan.Compile(g, plan.Spec{Loss: loss, Gradients: params}, dev)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		for _, w := range params {
			gradient, err := p.Gradient(w)
			if err != nil {
				t.Fatal(err)
			}
			grads = append(grads, gradient)
		}
		return p.Loss(), grads
	}
}

// Quotient is the central difference quotient of f by one weight, with the step that float32 can
// represent.
func Quotient(w *float32, f func() float64) float64 {
	at := *w
	high, low := at+1e-4, at-1e-4
	*w = high
	up := f()
	*w = low
	down := f()
	*w = at
	return (up - down) / (float64(high) - float64(low))
}
