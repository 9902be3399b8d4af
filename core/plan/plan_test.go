package plan

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"

	"gorgonia.org/gorgonia"
)

// drawing is a program to compare implementations by: what draws it, and what
// it is differentiated by.
type drawing struct {
	name string
	wrt  []*op.Tensor
	draw func(g *op.Graph) (loss *op.Node, outputs []*op.Node)
	// tolerance, as a share of a tensor's largest magnitude; 0 stands for 1e-5.
	tolerance float64
}

var seed = rng.New(1, "plan test")

func random(name string, shape ...int) *op.Tensor {
	t := op.NewTensor(name, shape...)
	seed.Sub(name).FillNormal(t.Data, 0, 0)
	return t
}

// drawings are the shapes of programs that the methods use, at small widths with
// awkward sizes.
func drawings() []drawing {
	return []drawing{critic(), twin(), actor(), target(), curiosity(), denoiser(), misfits(), large()}
}

func critic() drawing {
	net := nn.NewMLP("q", []int{7, 33, 17, 1}, nn.XavierUniform, nn.ReLU, seed)
	x, y := random("x", 29, 7), random("y", 29, 1)
	return drawing{name: "critic", wrt: net.Params(), draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 29), []*op.Node{q}
	}}
}

func twin() drawing {
	net := nn.NewEnsembleMLP("q", 3, []int{7, 18, 16, 1}, nn.TorchDefault, nn.ReLU, seed)
	x, y := random("x", 30, 7), random("y", 30, 1)
	return drawing{name: "three critics", wrt: net.Params(), draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 30), []*op.Node{q}
	}}
}

func actor() drawing {
	pi := nn.NewMLP("pi", []int{5, 19, 19, 6}, nn.XavierUniform, nn.ReLU, seed)
	q := nn.NewEnsembleMLP("q", 2, []int{8, 17, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, eps, alpha := random("s", 21, 5), random("eps", 21, 3), random("alpha", 1)
	return drawing{name: "actor", wrt: pi.Params(), draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		obs := g.Bind(s)
		sample := g.TanhGaussian(pi.Apply(g, obs), g.Bind(eps))
		a, logp := g.Slice(sample, 0, 3), g.Slice(sample, 3, 4)
		value := g.MeanMembers(q.Apply(g, g.Concat(obs, a)))
		return g.EntropyLoss(logp, value, g.Bind(alpha)), []*op.Node{sample, value}
	}}
}

func target() drawing {
	pi := nn.NewMLP("pi", []int{5, 16, 4}, nn.XavierUniform, nn.ReLU, seed)
	q := nn.NewEnsembleMLP("q", 4, []int{7, 16, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, eps := random("s", 9, 5), random("eps", 9, 2)
	r, d, gamma, alpha := random("r", 9, 1), op.NewTensor("d", 9, 1), random("gamma", 1), random("alpha", 1)
	members := op.NewTensor("members", 2)
	members.Data[0], members.Data[1], d.Data[3] = 3, 1, 1
	return drawing{name: "target", draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		obs := g.Bind(s)
		sample := g.TanhGaussian(pi.Apply(g, obs), g.Bind(eps))
		a, logp := g.Slice(sample, 0, 2), g.Slice(sample, 2, 3)
		least := g.MinMembers(q.ApplyAt(g, g.Concat(obs, a), g.Bind(members)))
		return nil, []*op.Node{g.TDTarget(g.Bind(r), g.Bind(d), least, logp, g.Bind(gamma), g.Bind(alpha)), least}
	}}
}

func curiosity() drawing {
	net := nn.NewMLP("h", []int{6, 10, 12}, nn.TorchDefault, nn.SiLU, seed)
	head := nn.NewLinear("head", 12, 4, nn.TorchDefault, seed)
	gamma, beta := random("gamma", 12), random("beta", 12)
	s, next, y := random("s", 23, 6), random("next", 23, 6), random("y", 23, 4)
	wrt := append(append(net.Params(), head.Params()...), gamma, beta)
	// A bias below batch normalisation receives a sum that cancels: its gradient is
	// small against the terms that round.
	return drawing{name: "curiosity", tolerance: 3e-5, wrt: wrt, draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		z, z2 := net.Apply(g, g.Bind(s)), net.Apply(g, g.Bind(next))
		stats := g.BatchStats(z)
		normal := g.BatchNorm(z, g.Bind(gamma), g.Bind(beta), stats)
		forward := g.SquaredError(normal, g.StopGradient(z2), 23)
		inverse := g.SquaredError(head.Apply(g, g.SiLU(g.Add(normal, z2))), g.Bind(y), 23*4)
		return g.AddScalars(forward, inverse), []*op.Node{stats, normal, g.RowMeanSquare(z, z2)}
	}}
}

func denoiser() drawing {
	in := nn.NewLinear("in", 7, 24, nn.TorchDefault, seed)
	time := nn.NewLinear("time", 9, 24, nn.TorchDefault, seed)
	block := nn.NewLinear("block", 24, 24, nn.TorchDefault, seed)
	out := nn.NewLinear("out", 24, 7, nn.TorchDefault, seed)
	x, n, z, w, keep := random("x", 31, 7), random("n", 31, 7), random("z", 31, 1), random("w", 4), random("keep", 31, 1)
	spread := op.NewTensor("spread", 7)
	for j := range spread.Data {
		spread.Data[j] = 0.1 + 0.3*float32(j/2)
	}
	var wrt []*op.Tensor
	for _, l := range []nn.Linear{in, time, block, out} {
		wrt = append(wrt, l.Params()...)
	}
	return drawing{name: "denoiser", wrt: wrt, draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		noised := g.EDMNoised(g.Bind(x), g.Bind(n), g.Bind(z), g.Bind(spread), -1.2, 1.2)
		embedding := g.RowScale(g.Mish(time.Apply(g, g.Fourier(g.Slice(noised, 14, 15), g.Bind(w)))), g.Bind(keep))
		h := g.Add(in.Apply(g, g.Slice(noised, 0, 7)), embedding)
		h = g.Add(h, block.Apply(g, g.Mish(h)))
		f := out.Apply(g, g.Mish(h))
		return g.SquaredError(f, g.Slice(noised, 7, 14), 31*7), []*op.Node{f}
	}}
}

// misfits holds what the others leave out, and one row, which a lane has none of.
func misfits() drawing {
	a, b, w := random("a", 1, 5), random("b", 1, 5), random("w", 1, 1)
	net := nn.NewLinear("net", 10, 3, nn.TorchDefault, seed)
	wrt := append(net.Params(), a, b)
	y := random("y", 1, 3)
	return drawing{name: "misfits", wrt: wrt, draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		x, z := g.Bind(a), g.Bind(b)
		all := g.Concat(g.Mul(g.ELU(x), g.Tanh(z)), g.Scale(g.Sub(x, z), 0.3))
		p := net.Apply(g, all)
		return g.AddScalars(g.WeightedSquaredError(p, g.Bind(y), g.Bind(w), 2), g.SquaredError(all, g.Input("zero", 1, 10), 4)), []*op.Node{p}
	}}
}

// large has layers whose weights are divided between lanes, beside one that is
// not.
func large() drawing {
	first, second, last := nn.NewLinear("1", 370, 390, nn.TorchDefault, seed), nn.NewLinear("2", 390, 390, nn.TorchDefault, seed), nn.NewLinear("3", 390, 5, nn.TorchDefault, seed)
	x, y := random("x", 11, 370), random("y", 11, 5)
	return drawing{name: "large", wrt: append(append(first.Params(), second.Params()...), last.Params()...), draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		h := g.ReLU(first.Apply(g, g.Bind(x)))
		h = g.Add(h, second.Apply(g, g.Mish(h)))
		out := last.Apply(g, g.ReLU(h))
		return g.SquaredError(out, g.Bind(y), 55), []*op.Node{out, h}
	}}
}

// Every program against Gorgonia's TapeMachine, which runs the reference
// implementations in float64. The tolerance of 1e-5 of a tensor's largest
// magnitude is float32's rounding through some ten operations.
func TestProgramsAgreeWithTheTapeMachine(t *testing.T) {
	for _, family := range kernel.Available() {
		dev, err := cpu.New(cpu.Options{Threads: 2, Family: family})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		for _, d := range drawings() {
			t.Run(family+"/"+d.name, func(t *testing.T) { agree(t, d, dev) })
		}
	}
}

func agree(t *testing.T, d drawing, dev *cpu.Device) {
	tolerance := max(d.tolerance, 1e-5)
	loss, outputs, grads, g := reference(t, d)
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	p, nodes := compile(t, d, dev, nil)
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	if loss != nil {
		if want := loss.Value().Data().(float64); math.Abs(p.Loss()-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("loss is %v, the TapeMachine says %v", p.Loss(), want)
		}
	}
	for i, n := range nodes {
		near(t, "output of "+d.name, p.Data(n), numbers[float64](outputs[i]), tolerance)
		if n.Shape().IsScalar() {
			continue // and so copied
		}
		if view := numbers[float32](n); &view[0] != &p.Data(n)[0] {
			t.Error("node.Value() is no view of the program's memory")
		}
	}
	for i, w := range d.wrt {
		got, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "gradient of "+w.Name, got, grads[i].Value().Data().([]float64), tolerance)
	}
}

// numbers are those of a node's value, a scalar or not.
func numbers[T float32 | float64](n *op.Node) []T {
	if x, scalar := n.Value().Data().(T); scalar {
		return []T{x}
	}
	return n.Value().Data().([]T)
}

func reference(t *testing.T, d drawing) (loss *op.Node, outputs, grads []*op.Node, g *op.Graph) {
	t.Helper()
	g, err := op.Build64(d.name, func(g *op.Graph) { loss, outputs = d.draw(g) })
	if err != nil {
		t.Fatal(err)
	}
	if loss != nil {
		if grads, err = g.Grad(loss, d.wrt...); err != nil {
			t.Fatal(err)
		}
	}
	return loss, outputs, grads, g
}

func compile(t *testing.T, d drawing, dev *cpu.Device, optimiser *Adam) (*Program, []*op.Node) {
	t.Helper()
	var s Spec
	g, err := op.Build(d.name, func(g *op.Graph) { s.Loss, s.Outputs = d.draw(g) })
	if err != nil {
		t.Fatal(err)
	}
	s.Gradients, s.Optimiser = d.wrt, optimiser
	p, err := Compile(g, s, dev)
	if err != nil {
		t.Fatal(err)
	}
	return p, s.Outputs
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

// Two hundred updates by one worker and by two end in the same bits.
func TestWorkersDoNotChangeBits(t *testing.T) {
	weights := func(threads int) (all [][]float32) {
		dev, err := cpu.New(cpu.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		for _, d := range []drawing{twin(), curiosity(), denoiser(), wide(), large(), actor()} {
			rate := op.NewTensor("rate", 1)
			rate.Data[0] = 3e-3
			c := DefaultAdam
			c.ClipNorm = 0.5
			p, _ := compile(t, d, dev, NewAdam(d.wrt, c, rate))
			for i := range uint64(200) {
				if err := p.Run(i); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range d.wrt {
				all = append(all, slices.Clone(w.Data))
			}
		}
		return all
	}
	one, two := weights(1), weights(2)
	for i := range one {
		if !slices.Equal(one[i], two[i]) {
			t.Errorf("parameter %d differs between one worker and two", i)
		}
	}
}

// wide is large enough to be given to both workers.
func wide() drawing {
	net := nn.NewMLP("q", []int{40, 96, 1}, nn.XavierUniform, nn.ReLU, seed)
	x, y := random("x", 64, 40), random("y", 64, 1)
	return drawing{name: "wide", wrt: net.Params(), draw: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 64), []*op.Node{q}
	}}
}

func machine(t testing.TB) *cpu.Device {
	t.Helper()
	dev, err := cpu.New(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// Adam and AdamW with a clip, written down again in float64 (PyTorch's order).
func TestAdamByHand(t *testing.T) {
	d := critic()
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = 1e-2
	c := AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, ClipNorm: 0.05}
	p, _ := compile(t, d, machine(t), NewAdam(d.wrt, c, rate))
	w, m, v := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, x := range d.wrt {
		for _, f := range x.Data {
			w[x.Name] = append(w[x.Name], float64(f))
		}
		m[x.Name], v[x.Name] = make([]float64, len(x.Data)), make([]float64, len(x.Data))
	}
	for step := 1; step <= 20; step++ {
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		for _, x := range d.wrt {
			g, _ := p.Gradient(x)
			for _, f := range g {
				squares += float64(f) * float64(f)
			}
		}
		clip := min(1, c.ClipNorm/(math.Sqrt(squares)+1e-6))
		for _, x := range d.wrt {
			g, _ := p.Gradient(x)
			for i, f := range g {
				gi := clip * float64(f)
				mi, vi := &m[x.Name][i], &v[x.Name][i]
				*mi = c.Beta1**mi + (1-c.Beta1)*gi
				*vi = c.Beta2**vi + (1-c.Beta2)*gi*gi
				hat := math.Sqrt(*vi)/math.Sqrt(1-math.Pow(c.Beta2, float64(step))) + c.Eps
				w[x.Name][i] -= 1e-2 * c.WeightDecay * w[x.Name][i]
				w[x.Name][i] -= 1e-2 / (1 - math.Pow(c.Beta1, float64(step))) * *mi / hat
				if math.Abs(w[x.Name][i]-float64(x.Data[i])) > 2e-5 {
					t.Fatalf("step %d: %s[%d] is %v, want %v", step, x.Name, i, x.Data[i], w[x.Name][i])
				}
			}
		}
	}
}

func TestFillsAndAverages(t *testing.T) {
	average, source, rate := random("average", 5), random("source", 5), op.NewTensor("tau", 1)
	rate.Data[0] = 0.25
	var drawn, copied *op.Node
	g, err := op.Build("fills", func(g *op.Graph) {
		drawn = g.Input("drawn", 6, 3)
		copied = g.Scale(drawn, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.New(9, "fill")
	p, err := Compile(g, Spec{
		Outputs: []*op.Node{copied}, Fills: []Fill{{Node: drawn, Stream: stream}},
		Lerps: []Lerp{{Dst: average, Src: source, Rate: rate}},
	}, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 5)
	for i, v := range average.Data {
		want[i] = float64(v) + 0.25*float64(source.Data[i]-v)
	}
	for _, occasion := range []uint64{4, 11} {
		if err := p.Run(occasion); err != nil {
			t.Fatal(err)
		}
		numbers := make([]float32, 18)
		stream.FillNormal(numbers, occasion, 0)
		if !slices.Equal(p.Data(copied), numbers) {
			t.Errorf("the fill of occasion %d drew other numbers than its stream", occasion)
		}
		if occasion == 4 {
			near(t, "average", average.Data, want, 1e-6)
		}
	}
}

func TestSteadyUpdatesDoNotAllocate(t *testing.T) {
	dev := machine(t)
	for _, d := range drawings() {
		var optimiser *Adam
		if len(d.wrt) > 0 {
			rate := op.NewTensor("rate", 1)
			optimiser = NewAdam(d.wrt, AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 1}, rate)
		}
		p, _ := compile(t, d, dev, optimiser)
		if n := testing.AllocsPerRun(20, func() {
			if err := p.Run(0); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s allocates %v times an update", d.name, n)
		}
	}
}
