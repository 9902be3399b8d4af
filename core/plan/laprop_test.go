package plan

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

// recordedOptimiser is DreamerV3's own optimiser over some steps.
type recordedOptimiser struct {
	LR, AGC, PMin, Eps, Beta1, Beta2, Warmup float64
	Params                                   map[string]golden.Array
	Steps                                    []struct {
		Grad, Nu, Mu, Update, Params map[string]golden.Array
		Clipped                      map[string]golden.Array `json:"after_agc"`
	}
}

// DefaultLaProp makes the recorded steps from the recorded gradients; the first one changes nothing.
func TestLaPropGolden(t *testing.T) {
	r := parts(t).Optimiser
	if r.PMin != device.LeastNorm {
		t.Errorf("norms of parameters are at least %v, want %v", device.LeastNorm, r.PMin)
	}
	if want := (AdamConfig{Rule: RuleLaProp, Beta1: r.Beta1, Beta2: r.Beta2, Eps: r.Eps, ClipTensor: r.AGC}); DefaultLaProp != want {
		t.Errorf("the constants are %+v, want %+v", DefaultLaProp, want)
	}
	if len(r.Steps) == 0 || len(r.Params) == 0 {
		t.Fatalf("%d steps of %d tensors are recorded", len(r.Steps), len(r.Params))
	}
	onEveryFamily(t, func(t *testing.T, dev *cpu.Device) { followLaProp(t, r, dev) })
}

func followLaProp(t *testing.T, r recordedOptimiser, dev device.Device) {
	var names []string
	for name := range r.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	var params, slopes []*op.Tensor
	for _, name := range names {
		params = append(params, filled(name, r.Params[name]))
		slopes = append(slopes, op.NewTensor("slope of "+name, r.Params[name].Shape...))
	}
	rate := op.NewTensor("rate", 1)
	optimiser := NewAdam(params, DefaultLaProp, rate)
	p, err := Build("steps", dev, func(g *op.Graph) Spec {
		var terms []*op.Node // the gradient of Σ w·slope is the slope
		for i, w := range params {
			terms = append(terms, g.Sum(g.Mul(g.Bind(w), g.Bind(slopes[i])), 1))
		}
		return Spec{Loss: g.AddScalars(terms...), Optimiser: optimiser}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for k, step := range r.Steps {
		rate.Data[0] = float32(r.LR * min(1, float64(k)/r.Warmup))
		before := map[string][]float32{}
		for i, name := range names {
			before[name] = slices.Clone(params[i].Data)
			copy(slopes[i].Data, step.Grad[name].Float32())
		}
		if err := p.Run(uint64(k)); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			what := fmt.Sprintf("step %d: %s of %s", k, "%s", name)
			if k == 0 { // the second moment is what the clipped gradient has left there
				var clipped []float32
				for _, v := range optimiser.V[i].Data {
					clipped = append(clipped, float32(math.Sqrt(float64(v)/(1-r.Beta2))))
				}
				abs := golden.Array{}
				for _, v := range step.Clipped[name].Data {
					abs.Data = append(abs.Data, math.Abs(v))
				}
				abs.Close(t, fmt.Sprintf(what, "clipped gradient"), clipped, 2e-5)
			}
			// 1 − float32(0.999) is 0.001 but for 1.3e-5 of it, and so is the factor of the bias
			step.Nu[name].Close(t, fmt.Sprintf(what, "second moment"), optimiser.V[i].Data, 3e-5)
			step.Mu[name].Close(t, fmt.Sprintf(what, "first moment"), optimiser.M[i].Data, 1e-5)
			for j, w := range params[i].Data {
				// a parameter of size w cannot move by less than its own rounding
				moved, want := float64(w)-float64(before[name][j]), step.Update[name].Data[j]
				rounding := math.Abs(float64(w)) * 0x1p-24
				if !(math.Abs(moved-want) <= 1e-5*math.Abs(want)+rounding) || k == 0 && moved != 0 {
					t.Errorf(what+"[%d] is %v, want %v", "update", j, moved, want)
				}
				// it was rounded when it was read and in each step; a step is at most about the rate
				if want := step.Params[name].Data[j]; !(math.Abs(float64(w)-want) <= float64(k+2)*(rounding+1e-5*r.LR)) {
					t.Errorf(what+"[%d] is %v, want %v", "parameter", j, w, want)
				}
			}
		}
	}
	if optimiser.T != uint64(len(r.Steps)) {
		t.Errorf("%d steps were counted, want %d", optimiser.T, len(r.Steps))
	}
}

// The step is the same bits with any number of workers, from partial sums of lanes and from collected
// gradients, and goes on after Save and Load.
func TestLaPropOnManyWorkers(t *testing.T) {
	var want []uint32
	for _, threads := range []int{1, 2, 5} {
		dev := cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
		stream := rng.New(7, "laprop")
		net := nn.NewMLP("net", []int{40, 520, 300, 3}, nn.XavierUniform, nn.SiLU, stream)
		rate := op.NewTensor("rate", 1)
		rate.Data[0] = 1e-3
		x, y, sums := op.NewTensor("x", 64, 40), op.NewTensor("y", 64, 3), NewGradients(net.Params())
		optimiser := NewAdam(net.Params(), DefaultLaProp, rate)
		program := func(spec Spec) *Program {
			p, err := Build("net", dev, func(g *op.Graph) Spec {
				spec.Loss = g.SquaredError(net.Apply(g, g.Bind(x)), g.Bind(y), 64)
				return spec
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		whole, part, rest := program(Spec{Optimiser: optimiser}), program(Spec{Collect: sums}), program(Spec{Collected: sums, Optimiser: optimiser})
		for i := range 6 {
			if i == 3 { // the moments are what was saved
				var file bytes.Buffer
				if err := optimiser.Save(&file); err != nil {
					t.Fatal(err)
				}
				if err := optimiser.Reset(); err != nil {
					t.Fatal(err)
				}
				if err := optimiser.Load(&file); err != nil {
					t.Fatal(err)
				}
			}
			order := []*Program{whole}
			if i%2 == 1 {
				order = []*Program{part, rest}
			}
			for k, p := range order {
				stream.Sub("x").FillNormal(x.Data, uint64(i), uint64(k*len(x.Data)))
				stream.Sub("y").FillNormal(y.Data, uint64(i), uint64(k*len(y.Data)))
				if err := p.Run(0); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []uint32
		for _, w := range append(net.Params(), optimiser.moments()...) {
			got = append(got, bitsOf(w.Data)...)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers make other bits than one", threads)
		}
	}
}
