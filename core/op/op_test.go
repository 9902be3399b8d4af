package op

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgrlab/core/rng"

	"gorgonia.org/gorgonia"
)

// random returns a tensor of N(0, 0.5²) numbers that depend only on its name.
func random(name string, shape ...int) *Tensor {
	t := NewTensor(name, shape...)
	rng.New(1, name).FillNormal(t.Data, 0, 0)
	for i := range t.Data {
		t.Data[i] *= 0.5
	}
	return t
}

// Values are compared with those computed by hand, for formulas that are short enough to write
// again.
func TestForwardByHand(t *testing.T) {
	set := func(name string, values ...float32) func(g *Graph, shape ...int) *Node {
		return func(g *Graph, shape ...int) *Node {
			x := NewTensor(name, shape...)
			copy(x.Data, values)
			return g.add(x)
		}
	}
	cases := []struct {
		name  string
		build func(g *Graph) *Node
		want  []float32
	}{
		{"LinearAt picks members", func(g *Graph) *Node {
			return g.LinearAt(set("x", 1, 2)(g, 1, 2), set("w", 1, 1, 10, 10, 100, 100)(g, 3, 2, 1), set("b", 0, 1, 2)(g, 3, 1), set("m", 2, 0)(g, 2))
		}, []float32{302, 3}},
		{"LinearAt chains members", func(g *Graph) *Node {
			return g.LinearAt(set("x", 1, 2)(g, 2, 1, 1), set("w", 1, 10, 100)(g, 3, 1, 1), set("b", 0, 1, 2)(g, 3, 1), set("m", 2, 0)(g, 2))
		}, []float32{102, 2}},
		{"MinMembers", func(g *Graph) *Node { return g.MinMembers(set("q", 3, 1, 2, 5)(g, 2, 2, 1)) }, []float32{2, 1}},
		{"TDTarget", func(g *Graph) *Node {
			return g.TDTarget(set("r", 1, 1)(g, 2, 1), set("d", 0, 1)(g, 2, 1), set("q", 10, 10)(g, 2, 1), set("lp", 2, 2)(g, 2, 1), set("gamma", 0.5)(g, 1), set("alpha", 3)(g, 1))
		}, []float32{3, 1}},
		{"Fourier", func(g *Graph) *Node { return g.Fourier(set("t", 0.25)(g, 1, 1), set("f", 1, 2)(g, 2)) },
			[]float32{0.25, 1, 0, 0, -1}},
		{"BatchStats", func(g *Graph) *Node { return g.BatchStats(set("x", 1, 2, 3)(g, 3, 1)) }, []float32{2, 2. / 3, 1}},
		{"BatchNormEval", func(g *Graph) *Node {
			return g.BatchNormEval(set("x", 5)(g, 1, 1), set("ga", 2)(g, 1), set("be", 1)(g, 1), set("run", 1, 99, 4)(g, 3, 1))
		}, []float32{5 - 1.0/200000/4}},
		{"RowMeanSquare", func(g *Graph) *Node {
			return g.RowMeanSquare(set("a", 1, 2)(g, 1, 2), set("b", 0, 4)(g, 1, 2))
		}, []float32{2.5}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := evaluate(t, c.build)
			for i, want := range c.want {
				if math.Abs(float64(got[i]-want)) > 2e-5*(1+math.Abs(float64(want))) {
					t.Errorf("element %d is %v, want %v", i, got[i], want)
				}
			}
		})
	}
}

func evaluate(t *testing.T, build func(g *Graph) *Node) []float32 {
	t.Helper()
	var out *Node
	g, err := Build("test", func(g *Graph) { out = build(g) })
	if err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return out.Value().Data().([]float32)
}

// The network's target reproduces EDM's own loss: λ(σ)|D−x|² with
// D = c_skip·y + c_out·F and λ = (σ²+σ_d²)/(σσ_d)².
func TestEDMTargetGivesTheWeightedLoss(t *testing.T) {
	const rows, d = 7, 3
	spread := NewTensor("spread", d)
	copy(spread.Data, []float32{0.8, 0.1, 0.1})
	x, n, z := random("x", rows, d), random("n", rows, d), random("z", rows, 1)
	out := evaluate(t, func(g *Graph) *Node { return g.EDMNoised(g.add(x), g.add(n), g.add(z), g.add(spread), -1.2, 1.2) })
	network := random("F", rows, d).Data
	for i := range rows {
		row := out[i*(2*d+1):]
		sigma := math.Exp(-1.2 + 1.2*float64(z.Data[i]))
		if got := float64(row[2*d]); math.Abs(got-math.Log(sigma)/4) > 1e-6 {
			t.Errorf("row %d: noise level %v, want ln σ/4 = %v", i, got, math.Log(sigma)/4)
		}
		for j := range d {
			sigmaData := float64(spread.Data[j])
			total := sigma*sigma + sigmaData*sigmaData
			lambda := total / math.Pow(sigma*sigmaData, 2)
			y := float64(x.Data[i*d+j]) + sigma*float64(n.Data[i*d+j])
			if got, want := float64(row[j]), y/math.Sqrt(total); math.Abs(got-want) > 1e-5 {
				t.Errorf("row %d: input %v, want c_in·y = %v", i, got, want)
			}
			f := float64(network[i*d+j])
			denoised := sigmaData*sigmaData/total*y + sigma*sigmaData/math.Sqrt(total)*f
			want := lambda * math.Pow(denoised-float64(x.Data[i*d+j]), 2)
			if got := math.Pow(f-float64(row[d+j]), 2); math.Abs(got-want) > 2e-4*(1+want) {
				t.Errorf("row %d: squared error %v, want λ|D−x|² = %v", i, got, want)
			}
		}
	}
}

func TestTanhGaussianDensity(t *testing.T) {
	h, eps := NewTensor("h", 1, 2), NewTensor("eps", 1, 1)
	h.Data[0], h.Data[1], eps.Data[0] = 0.3, -0.5, 0.7
	out := evaluate(t, func(g *Graph) *Node { return g.TanhGaussian(g.add(h), g.add(eps)) })
	sigma := math.Exp(-0.5)
	u := 0.3 + sigma*0.7
	density := math.Exp(-0.7*0.7/2) / (sigma * math.Sqrt(2*math.Pi)) / (1 - math.Pow(math.Tanh(u), 2) + 1e-6)
	if math.Abs(float64(out[0])-math.Tanh(u)) > 1e-6 || math.Abs(float64(out[1])-math.Log(density)) > 1e-5 {
		t.Errorf("got a = %v, log π = %v; want %v, %v", out[0], out[1], math.Tanh(u), math.Log(density))
	}
	h.Data[1] = 50 // it is clamped to LogStdMax
	out = evaluate(t, func(g *Graph) *Node { return g.TanhGaussian(g.add(h), g.add(eps)) })
	if want := math.Tanh(0.3 + math.Exp(LogStdMax)*0.7); math.Abs(float64(out[0])-want) > 1e-6 {
		t.Errorf("log σ is not clamped: a = %v, want %v", out[0], want)
	}
}

func TestErrorsNameOperationShapesAndCaller(t *testing.T) {
	cases := map[string]func(g *Graph){
		"Linear":       func(g *Graph) { g.Linear(g.Input("x", 2, 3), g.Input("w", 4, 5), g.Input("b", 5)) },
		"Add":          func(g *Graph) { g.Add(g.Input("x", 2, 3), g.Input("w", 3, 2)) },
		"TanhGaussian": func(g *Graph) { g.TanhGaussian(g.Input("x", 2, 3), g.Input("w", 2, 1)) },
		"Exp":          func(g *Graph) { g.Exp(g.Input("x", 2, 3, 4, 5)) },
		"ColScale":     func(g *Graph) { g.ColScale(g.Input("x", 2, 3), g.Input("s", 2)) },
		"BCE":          func(g *Graph) { g.BCE(g.Input("z", 2, 3), g.Input("t", 2, 3), 1, g.Input("w", 3, 1)) },
		"Gather":       func(g *Graph) { g.Gather(g.Input("x", 4, 3), g.Input("i", 2, 2)) },
		"LayerNorm":    func(g *Graph) { g.LayerNorm(g.Input("x", 2, 3), g.Input("ga", 3), g.Input("be", 2, 3), 1e-5) },
		"Slice":        func(g *Graph) { g.Slice(g.Input("x", 2, 3), 1, 4) },
		"TDTarget": func(g *Graph) {
			r := g.Input("r", 2, 1)
			g.TDTarget(r, r, r, g.Input("lp", 2, 2), g.Input("gamma", 1), g.Input("alpha", 1))
		},
	}
	for name, build := range cases {
		_, err := Build("faulty", build)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: no *Error but %v", name, err)
			continue
		}
		if e.Op != name || !strings.HasPrefix(e.Caller, "op_test.go:") || !strings.Contains(err.Error(), "(2, ") {
			t.Errorf("%s: error %q names not the operation, the caller and the shapes", name, err)
		}
	}
}
