package op

import (
	"strings"
	"testing"
)

// Each test holds off one trap of Gorgonia v0.9.18 that can reach us.

func TestInputsOfOneNameAreRefused(t *testing.T) {
	_, err := Build("names", func(g *Graph) {
		g.Input("w", 2, 2)
		g.Input("w", 2, 2)
	})
	if err == nil || !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("two inputs named w gave %v; Gorgonia would have merged them", err)
	}
}

func TestASecondGradOnAGraphIsRefused(t *testing.T) {
	w := random("w", 2, 1)
	var first, second *Node
	g, err := Build("twice", func(g *Graph) {
		y := g.Linear(g.Input("x", 3, 2), g.Bind(w), g.Input("b", 1))
		first = g.SquaredError(y, g.Input("t1", 3, 1), 1)
		second = g.SquaredError(y, g.Input("t2", 3, 1), 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Grad(first, w); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Grad(second, w); err == nil {
		t.Error("the second Grad was let through; Gorgonia answers it with the first loss's gradient")
	}
}

func TestBindingTwiceIsOneNode(t *testing.T) {
	w := random("w", 2, 2)
	if _, err := Build("bind", func(g *Graph) {
		first, second := g.Bind(w), g.Bind(w)
		if first != second {
			t.Error("one tensor became two nodes")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestOperationsWithoutDerivativeAreErrorsNotPanics(t *testing.T) {
	w := random("w", 4, 1)
	var loss *Node
	g, err := Build("no derivative", func(g *Graph) {
		x := g.Bind(w)
		one := g.Input("one", 1)
		loss = g.SquaredError(g.TDTarget(x, x, x, x, one, one), g.Input("t", 4, 1), 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Grad(loss, w); err == nil {
		t.Error("a loss that does not depend on w by derivatives gave a gradient")
	}
}

// A graph may have several targets without entropy, as one for each of two critics.
func TestTargetsWithoutEntropy(t *testing.T) {
	if _, err := Build("two targets", func(g *Graph) {
		x, gamma := g.Input("x", 4, 1), g.Input("gamma", 1)
		y := g.TDTarget(x, x, g.TDTarget(x, x, x, nil, gamma, nil), nil, gamma, nil)
		if !y.Shape().Eq(x.Shape()) {
			t.Errorf("its shape is %v, want %v", y.Shape(), x.Shape())
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// Gorgonia identifies nodes by a 32-bit hash, whatever their children; about one pair in 90,000
// nodes collides. A node that comes back with other children than were requested must be refused.
func TestMergedNodesAreRefused(t *testing.T) {
	if _, err := Build("merged", func(g *Graph) {
		x, y := g.Input("x", 2, 2), g.Input("y", 2, 2)
		if err := checkChildren(g.Tanh(x), []*Node{x}); err != nil {
			t.Errorf("a node with its own child was refused: %v", err)
		}
		if err := checkChildren(g.Tanh(x), []*Node{y}); err != errMerged {
			t.Errorf("a node with another's child gave %v", err)
		}
		if err := checkChildren(g.Sub(x, y), []*Node{y, x}); err != errMerged {
			t.Errorf("a node with its children exchanged gave %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestGraphsBuildConcurrently(t *testing.T) {
	done := make(chan error)
	for range 4 {
		go func() {
			var err error
			for range 10 {
				w := random("w", 4, 3)
				var loss *Node
				var g *Graph
				if g, err = Build("parallel", func(g *Graph) {
					loss = g.SquaredError(g.Tanh(g.Linear(g.Input("x", 5, 4), g.Bind(w), g.Input("b", 3))), g.Input("t", 5, 3), 1)
				}); err != nil {
					break
				}
				if _, err = g.Grad(loss, w); err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestGorgoniasOwnAdditionIsRecognised(t *testing.T) {
	w := random("w", 3, 3)
	var loss *Node
	g, err := Build("two users", func(g *Graph) {
		x := g.Bind(w)
		loss = g.SquaredError(g.Mul(g.Tanh(x), x), g.Input("t", 3, 3), 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	grads, err := g.Grad(loss, w)
	if err != nil {
		t.Fatal(err)
	}
	if !Adds(grads[0]) {
		t.Errorf("the gradient of a node with two users is %v, not a recognised addition", grads[0].Op())
	}
}
