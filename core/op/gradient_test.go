package op_test

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/testing/optest"

	"gorgonia.org/gorgonia"
)

// Gradients in float64 agree with central differences, at awkward shapes. The step 1e-5 leaves an
// error near 1e-10 in smooth places; the random numbers stay away from corners.
func TestGradientsAgreeWithFiniteDifferences(t *testing.T) {
	for _, c := range optest.All() {
		t.Run(c.Name, func(t *testing.T) {
			for _, s := range append(slices.Clone(optest.Corners), optest.Random(uint64(len(c.Name)), 2, 8, 9)...) {
				if c.Fits(s) {
					differences(t, c.At(s))
				}
			}
		})
	}
}

func differences(t *testing.T, c *optest.Instance) {
	t.Helper()
	var loss *op.Node
	nodes := map[*op.Tensor]*op.Node{}
	g, err := op.Build64("test", func(g *op.Graph) {
		loss, _ = c.Build(g)
		for _, w := range c.Wrt {
			nodes[w] = g.Bind(w)
		}
	})
	if err != nil {
		t.Fatalf("%v: %v", c.Shape, err)
	}
	if loss == nil {
		return
	}
	grads, err := g.Grad(loss, c.Wrt...)
	if err != nil {
		t.Fatalf("%v: %v", c.Shape, err)
	}
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	run := func() float64 {
		if err := vm.RunAll(); err != nil {
			t.Fatalf("%v: %v", c.Shape, err)
		}
		defer vm.Reset()
		return loss.Value().Data().(float64)
	}
	run()
	symbolic := make([][]float64, len(grads))
	for i := range grads {
		symbolic[i] = slices.Clone(grads[i].Value().Data().([]float64))
	}
	for i, w := range c.Wrt {
		data := nodes[w].Value().Data().([]float64)
		for j := 0; j < len(data); j += 1 + len(data)/40 { // only some elements of large tensors
			const h = 1e-5
			x := data[j]
			data[j] = x + h
			up := run()
			data[j] = x - h
			down := run()
			data[j] = x
			if want := (up - down) / (2 * h); !(math.Abs(symbolic[i][j]-want) <= 2e-7*(1+math.Abs(want))) {
				t.Fatalf("%v: d loss/d %s[%d] = %.10f, differences give %.10f", c.Shape, w.Name, j, symbolic[i][j], want)
			}
		}
	}
}
