package nn_test

import (
	"math"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

func TestNoisyLayersStartAsPublished(t *testing.T) {
	l := nn.NewNoisy("l", 3, 100, 20, 0.5, rng.New(1, "noisy"))
	largest := 0.0
	for _, p := range l.Mean.Params() {
		for _, v := range p.Data {
			largest = math.Max(largest, math.Abs(float64(v)))
		}
	}
	if largest > 0.1 || largest < 0.099 {
		t.Errorf("the largest mean is %v, want just under 1/√100", largest)
	}
	for _, p := range l.Spread.Params() {
		for _, v := range p.Data {
			if v != 0.05 {
				t.Fatalf("a deviation of %s is %v, want 0.5/√100", p.Name, v)
			}
		}
	}
	if l.Mean.W.Data[0] == l.Mean.W.Data[2000] {
		t.Error("two members start with the same weights")
	}
}

// y and the gradients of Σ(y − t)²/2 agree with the definition, with every εw written out.
func TestANoisyLayerByItsDefinition(t *testing.T) {
	const n, rows, in, out = 2, 3, 4, 2
	dev := cputest.New(t, cpu.Options{Threads: 1})
	l := nn.NewNoisy("l", n, in, out, 0.5, rng.New(1, "noisy"))
	x, target := op.NewTensor("x", rows, in), op.NewTensor("t", n, rows, out)
	rng.New(2, "x").FillNormal(x.Data, 0, 0)
	rng.New(2, "t").FillNormal(target.Data, 0, 0)
	var e nn.Noise
	var y, loss *op.Node
	g, err := op.Build("noisy", func(g *op.Graph) {
		e = l.Inputs(g, "noise")
		w, b := l.Perturbed(g, e)
		y = g.Linear(g.Bind(x), w, b)
		loss = g.SquaredError(y, g.Bind(target), 2)
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Loss: loss, Outputs: []*op.Node{y}, Gradients: l.Params(), Fills: []plan.Fill{
		{Node: e.In, Stream: rng.New(3, "in")}, {Node: e.Out, Stream: rng.New(3, "out")}, {Node: e.Bias, Stream: rng.New(3, "out")},
	}}, dev)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for occasion := range uint64(2) {
		if err := p.Run(occasion); err != nil {
			t.Fatal(err)
		}
		epsIn, epsOut := make([]float32, n*in), make([]float32, n*out)
		rng.New(3, "in").FillNormal(epsIn, occasion, 0)
		rng.New(3, "out").FillNormal(epsOut, occasion, 0)
		f := func(e float32) float64 { return math.Copysign(math.Sqrt(math.Abs(float64(e))), float64(e)) }
		want := map[*op.Tensor][]float64{}
		for _, t := range l.Params() {
			want[t] = make([]float64, len(t.Data))
		}
		for m := range n {
			for r := range rows {
				for j := range out {
					eb := f(epsOut[m*out+j])
					sum := float64(l.Mean.B.Data[m*out+j]) + float64(l.Spread.B.Data[m*out+j])*eb
					for i := range in {
						at := (m*in+i)*out + j
						sum += float64(x.Data[r*in+i]) * (float64(l.Mean.W.Data[at]) + float64(l.Spread.W.Data[at])*f(epsIn[m*in+i])*eb)
					}
					if got := float64(p.Data(y)[(m*rows+r)*out+j]); math.Abs(got-sum) > 1e-5 {
						t.Fatalf("y[%d,%d,%d] is %v, want %v", m, r, j, got, sum)
					}
					d := sum - float64(target.Data[(m*rows+r)*out+j])
					want[l.Mean.B][m*out+j] += d
					want[l.Spread.B][m*out+j] += d * eb
					for i := range in {
						at := (m*in+i)*out + j
						dw := d * float64(x.Data[r*in+i])
						want[l.Mean.W][at] += dw
						want[l.Spread.W][at] += dw * f(epsIn[m*in+i]) * eb
					}
				}
			}
		}
		for tensor, w := range want {
			got, err := p.Gradient(tensor)
			if err != nil {
				t.Fatal(err)
			}
			for i := range w {
				if math.Abs(float64(got[i])-w[i]) > 2e-5 {
					t.Errorf("gradient %d of %s is %v, want %v", i, tensor.Name, got[i], w[i])
				}
			}
		}
	}
}
