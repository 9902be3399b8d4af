package cuda

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/testing/golden"
)

// The recorded steps of DreamerV3's optimiser (danijar/dreamerv3 @e3f0224 embodied/jax/opt.py); the
// first one changes nothing.
func TestLaPropGolden(t *testing.T) {
	var file struct {
		Optimiser struct {
			LR, Warmup float64
			Params     map[string]golden.Array
			Steps      []struct{ Grad, Update, Params map[string]golden.Array }
		}
	}
	golden.Recorded(t, "../../../agent/dreamer/testdata/dreamer_parts.json", &file)
	r := file.Optimiser
	if len(r.Steps) == 0 || len(r.Params) == 0 {
		t.Fatalf("%d steps of %d tensors are recorded", len(r.Steps), len(r.Params))
	}
	dev, rate := card(t, Options{}), op.NewTensor("rate", 1)
	var params, slopes []*op.Tensor
	for name, a := range r.Params {
		w := op.NewTensor(name, a.Shape...)
		copy(w.Data, a.Float32())
		params, slopes = append(params, w), append(slopes, op.NewTensor("slope of "+name, a.Shape...))
	}
	p, err := plan.Build("steps", dev, func(g *op.Graph) plan.Spec {
		var terms []*op.Node // the gradient of Σ w·slope is the slope
		for i, w := range params {
			terms = append(terms, g.Sum(g.Mul(g.Bind(w), g.Bind(slopes[i])), 1))
		}
		return plan.Spec{Loss: g.AddScalars(terms...), Optimiser: plan.NewAdam(params, plan.DefaultLaProp, rate)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for k, step := range r.Steps {
		rate.Data[0] = float32(r.LR * min(1, float64(k)/r.Warmup))
		var before [][]float32
		for i, w := range params {
			before = append(before, slices.Clone(w.Data))
			copy(slopes[i].Data, step.Grad[w.Name].Float32())
		}
		if err := p.Run(uint64(k)); err != nil {
			t.Fatal(err)
		}
		if err := plan.Fetch(dev, params...); err != nil {
			t.Fatal(err)
		}
		for i, w := range params {
			for j, v := range w.Data {
				// a parameter of size v cannot move by less than its own rounding
				moved, want := float64(v)-float64(before[i][j]), step.Update[w.Name].Data[j]
				what, rounding := fmt.Sprintf("step %d: %s[%d]", k, w.Name, j), math.Abs(float64(v))*0x1p-24
				if !(math.Abs(moved-want) <= 1e-5*math.Abs(want)+rounding) || k == 0 && moved != 0 {
					t.Errorf("%s moves by %v, want %v", what, moved, want)
				}
				// it was rounded when it was read and in each step; a step is at most about the rate
				if want := step.Params[w.Name].Data[j]; !(math.Abs(float64(v)-want) <= float64(k+2)*(rounding+1e-5*r.LR)) {
					t.Errorf("%s is %v, want %v", what, v, want)
				}
			}
		}
	}
}
