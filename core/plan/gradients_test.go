package plan

import (
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// parted is a network that is fitted to rows in three programs.
type parted struct {
	net  nn.MLP
	adam *Adam
	sums *Gradients
	x, y *op.Tensor
	dev  *cpu.Device
}

func newParted(t *testing.T, rows int) *parted {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: 2})
	p := &parted{net: nn.NewMLP("net", []int{5, 16, 3}, nn.XavierUniform, nn.ReLU, rng.New(3, "parted")), dev: dev}
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = 0.01
	p.adam, p.sums = NewAdam(p.net.Params(), DefaultAdam, rate), NewGradients(p.net.Params())
	p.x, p.y = op.NewTensor("x", rows, 5), op.NewTensor("y", rows, 3)
	return p
}

// program fits the rows of x to y; norm is that of the loss over the whole batch.
func (p *parted) program(t *testing.T, spec Spec, norm float64) *Program {
	t.Helper()
	program, err := Build("parted", p.dev, func(g *op.Graph) Spec {
		spec.Loss = g.SquaredError(p.net.Apply(g, g.Bind(p.x)), g.Bind(p.y), norm)
		spec.Gradients = p.net.Params()
		return spec
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program
}

// fill puts rows first, first+1, … of a batch where the programs read them.
func (p *parted) fill(first int) {
	rng.New(4, "x").FillNormal(p.x.Data, 0, uint64(first*5))
	rng.New(4, "y").FillNormal(p.y.Data, 0, uint64(first*3))
}

// A batch in three parts makes the same step as the whole batch at once. The tolerance is that of
// sums in another order.
func TestGradientsOfPartsAddUp(t *testing.T) {
	whole, parts := newParted(t, 12), newParted(t, 4)
	at := whole.program(t, Spec{Optimiser: whole.adam}, 12)
	first := parts.program(t, Spec{Collect: parts.sums}, 12)
	more := parts.program(t, Spec{Collected: parts.sums, Collect: parts.sums}, 12)
	last := parts.program(t, Spec{Collected: parts.sums, Optimiser: parts.adam}, 12)
	for step := range 3 { // gradients collected for one step are not in the next
		whole.fill(0)
		if err := at.Run(uint64(step)); err != nil {
			t.Fatal(err)
		}
		for i, program := range []*Program{first, more, last} {
			parts.fill(4 * i)
			if err := program.Run(uint64(step)); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range whole.net.Params() {
			optest.Near(t, "weights of "+w.Name, parts.net.Params()[i].Data, doubles(w.Data), 1e-5)
			gradient, err := at.Gradient(w)
			if err != nil {
				t.Fatal(err)
			}
			got, err := last.Gradient(parts.net.Params()[i])
			if err != nil {
				t.Fatal(err)
			}
			optest.Near(t, "gradient of "+w.Name, got, doubles(gradient), 1e-5)
		}
	}
	if parts.adam.T != 3 {
		t.Errorf("%d steps were made, want 3", parts.adam.T)
	}
}

func doubles(x []float32) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = float64(v)
	}
	return all
}

// A parameter whose gradient is not collected is an error; it does not get the gradient of one
// part.
func TestGradientsThatAreNotCollected(t *testing.T) {
	p := newParted(t, 4)
	some := NewGradients(p.net.Params()[:1])
	_, err := Build("parted", p.dev, func(g *op.Graph) Spec {
		return Spec{Loss: g.SquaredError(p.net.Apply(g, g.Bind(p.x)), g.Bind(p.y), 1), Collected: some, Optimiser: p.adam}
	})
	if err == nil {
		t.Error("a step along the gradients of some rows of some parameters is let pass")
	}
}

// A step of its own, whose graph has no parameter, moves all of them along the sums, as a step on the whole
// batch does; without a sum for each of them it is an error.
func TestAStepAlongCollectedGradients(t *testing.T) {
	whole, parts := newParted(t, 12), newParted(t, 4)
	at := whole.program(t, Spec{Optimiser: whole.adam}, 12)
	first := parts.program(t, Spec{Collect: parts.sums}, 12)
	more := parts.program(t, Spec{Collected: parts.sums, Collect: parts.sums}, 12)
	last, err := Build("step", parts.dev, func(*op.Graph) Spec { return Spec{Collected: parts.sums, Optimiser: parts.adam} })
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	for step := range 3 {
		whole.fill(0)
		if err := at.Run(uint64(step)); err != nil {
			t.Fatal(err)
		}
		for i, program := range []*Program{first, more, more} {
			parts.fill(4 * i)
			if err := program.Run(uint64(step)); err != nil {
				t.Fatal(err)
			}
		}
		if err := last.Run(uint64(step)); err != nil {
			t.Fatal(err)
		}
		for i, w := range whole.net.Params() {
			optest.Near(t, "weights of "+w.Name, parts.net.Params()[i].Data, doubles(w.Data), 1e-5)
		}
	}
	if parts.adam.T != 3 {
		t.Errorf("%d steps were made, want 3", parts.adam.T)
	}
	if _, err := Build("step", parts.dev, func(*op.Graph) Spec {
		return Spec{Collected: NewGradients(parts.net.Params()[1:]), Optimiser: parts.adam}
	}); err == nil {
		t.Error("a step without the gradient of a parameter is let pass")
	}
}
